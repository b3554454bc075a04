"use strict";
// The picture of one run's machine: links, what is broken, nodes.
const T = Torus;
const $ = id => document.getElementById(id);
// What is chosen. `time`: the moment of the clock; `node` and `run`: the node that was clicked, and where; `routes`: all, node or none.
const state = {time: 0, playing: 0, node: -1, run: 0, printing: false, routes: "all", only: -1, tree: false, cube: null};

const dark = () => !state.printing && matchMedia("(prefers-color-scheme: dark)").matches;
function palette() {
  return dark()
    ? {paper: "#1d2126", ink: "#e6e9ed", soft: "#9aa4af", link: "#3b434c", frame: "#77818c", route: "#ff9a52", control: "#9ecbff",
       dead: "#ff6b6b", slow: "#e3b505", twist: "#c39bff", tree: "#5f8f6a",
       groups: ["#5ab4f0", "#ff9a52", "#2fd1a0", "#e58cc4", "#e8b040", "#a9dcff", "#b5bdc6"]}
    : {paper: "#f4f6f8", ink: "#1b1f24", soft: "#5c6570", link: "#c3cad2", frame: "#8a939d", route: "#c04a00", control: "#345f99",
       dead: "#c8102e", slow: "#8a6d00", twist: "#7a3fc0", tree: "#7fb08a",
       groups: ["#0072b2", "#d55e00", "#009e73", "#b8528f", "#c98500", "#3a9bd0", "#555555"]};
}
const css = c => "rgb(" + c.join(",") + ")";
function element(tag, text, cls) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
}
// An empty canvas of so many CSS pixels, sharp on fine screens as far as canvases go. Its context, in CSS pixels. One of that size already is
// only emptied: to allocate it anew in each step takes time.
function prepared(canvas, width, height) {
  const fine = Math.min(window.devicePixelRatio || 1, 16000 / width, 16000 / height);
  const across = Math.max(1, Math.round(width * fine)), down = Math.max(1, Math.round(height * fine));
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  // Drawn by the processor: many small shapes are slow on a graphics device that is emulated.
  const g = canvas.getContext("2d", {willReadFrequently: true});
  if (g.reset && canvas.width === across && canvas.height === down) {
    g.reset();
  } else {
    canvas.width = across;
    canvas.height = down;
  }
  g.setTransform(fine, 0, 0, fine, 0, 0);
  return g;
}

class Machine {
  constructor(run, canvas) {
    this.run = run;
    this.canvas = canvas;
    this.cell = 10;
    this.base = null;  // the links, and the nodes, as they were drawn last
  }
  // The colour of a node's group, where there are several.
  paint_of_group(p, node, otherwise) {
    const {data, shape} = this.run;
    return data.groups && shape.group_of(node) >= 0 ? p.groups[data.group_colours[shape.group_of(node)]] : otherwise;
  }
  x(column) { return this.left + (column + 0.5) * this.cell; }
  y(row) { return this.top + (row + 0.5) * this.cell; }
  node_at(px, py) { return this.layout.node_at((px - this.left) / this.cell - 0.5, (py - this.top) / this.cell - 0.5); }

  // The nearest node that way, those ahead before those aside; without a node the first. -1 never.
  node_beside(node, dx, dy) {
    const {x, y} = this.layout, {shape} = this.run;
    let best = node, least = Infinity;
    if (node < 0) return 0;
    for (let other = 0; other < shape.nodes; ++other) {
      const along = (x[other] - x[node]) * dx + (y[other] - y[node]) * dy, aside = Math.abs((x[other] - x[node]) * dy) + Math.abs((y[other] - y[node]) * dx);
      if (along > 0.2 && aside < 2 * along && along + 3 * aside < least) [best, least] = [other, along + 3 * aside];
    }
    return best;
  }

  // The largest cells that the room has, in pixels: with margins for coordinates and for links that leave over the border.
  fit(room, high) {
    const {layout} = this, {shape} = this.run, cube = layout.cube;
    // Links that leave over the border reach beyond it, and curves of a complete dimension do by more.
    const curved = [layout.across, layout.down].some(d => d >= 0 && shape.extents[d] > 2 && shape.wiring[d] === "complete"), beside = this.beside = cube ? 0 : curved ? 0.65 : 0.35;
    // Names of nodes stand at twisted ends.
    const wide = shape.twists(layout.across) ? 26 : 0, tall = layout.down >= 0 && shape.twists(layout.down) ? 14 : 0;
    const left = cube ? 4 : 26 + wide, right = cube ? 4 : 6 + 2 * wide, top = cube ? 4 : (layout.panels > 1 ? 32 : 18) + tall, bottom = cube ? 22 : 6 + tall;
    [this.above, this.aside] = [5 + tall, 5 + wide];  // of the coordinates from the ends of links
    const fitting = (pixels, cells) => Math.min(pixels / (cells + 2 * beside), 16000 / (cells + 1));
    this.cell = Math.max(3, Math.min(110, fitting(room - left - right, layout.columns), fitting(high - top - bottom, layout.rows)));
    this.left = left + beside * this.cell;
    this.top = top + beside * this.cell;
    this.width = this.left + right + (layout.columns + beside) * this.cell;
    this.height = this.top + bottom + (layout.rows + beside) * this.cell;
    // Of many nodes, and of small ones, the cells are coloured.
    this.filled = !cube && (this.cell < 5 || shape.nodes > 1024);
  }

  // A step draws the nodes anew whose share has changed, and copies the rest. In a cube, nodes lie one above the other: it is drawn anew.
  // `cores` lies over the routes: the middle of each node, so that its colour is seen.
  drawn_base(p) {
    const key = [this.cell, this.width, window.devicePixelRatio, p.paper, state.printing].join();
    if (!this.base || this.base.key !== key || this.base.layout !== this.layout || this.layout.cube) {
      const canvas = element("canvas"), g = prepared(canvas, this.width, this.height), cores = element("canvas");
      const nodes = this.filled ? null : element("canvas");  // a layer of their own, over the halos of routes; coloured cells have none
      this.base = {key, layout: this.layout, canvas, nodes, g: nodes ? prepared(nodes, this.width, this.height) : g, cores, over: prepared(cores, this.width, this.height), paints: new Map(), share: new Float64Array(this.run.shape.nodes).fill(NaN)};
      this.find_marks();
      if (this.filled) {
        this.frame_panels(g, p);
      } else {
        this.draw_links(g, p);
        if (!this.layout.cube) this.draw_marks(g, p);
      }
      if (!this.layout.cube) this.draw_axes(g, p);
      else this.draw_compass(g, p);
    }
    this.draw_nodes(p);
    return this.base;
  }

  // Coordinates along the upper and the left border, as many as there is room for, and of each slice which it is.
  draw_axes(g, p) {
    const {layout, cell} = this, {shape} = this.run;
    g.fillStyle = p.soft;
    g.font = "11px system-ui, sans-serif";
    const every = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64].find(n => n * cell >= 17) || 100;
    const above = this.top - this.beside * cell - this.above;
    g.textBaseline = "alphabetic";
    g.textAlign = "center";
    for (let panel = 0; panel < layout.panels; ++panel) {
      const [x0, y0] = layout.corner(panel);
      if (y0 === 0 && !layout.folded) for (let i = 0; i < layout.width; i += every) g.fillText(i, this.x(x0 + i), above);
      if (layout.panels === 1) break;
      const text = this.panel_text(panel, layout.width * cell), high = this.title_at(y0);
      g.fillStyle = p.ink;
      if (y0 === 0 || layout.gap * cell * 0.4 > 8) g.fillText(text, this.x(x0 + (layout.width - 1) / 2), high);
      g.fillStyle = p.soft;
    }
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (let row = 0; row < layout.panel_rows; ++row) {
      const y0 = row * (layout.height + layout.gap);
      for (let i = 0; i < layout.height; i += every)
        if (layout.down >= 0 || layout.folded) g.fillText(layout.folded ? i * layout.width : i, this.left - this.beside * cell - this.aside, this.y(y0 + i));
    }
    g.textAlign = "left";
    g.textBaseline = "alphabetic";
  }
  // The foot of the title of a slice whose first row that is. Where links end in names of nodes, it lies between these and those above.
  title_at(row) {
    const {layout, cell} = this;
    if (row === 0) return this.top - this.beside * cell - this.above - 14;
    return layout.down >= 0 && this.run.shape.twists(layout.down) ? this.y(row - 1.5) + 4 : this.y(row - 0.5) - (layout.gap > 1 ? 0.35 : 0.2) * cell - 1;
  }
  // "dimension 0 is 3", or as much of it as fits.
  panel_text(panel, room) {
    const {rest} = this.layout, n = this.run.shape.extents, values = [];
    for (let i = rest.length - 1, left = panel; i >= 0; left = Math.floor(left / n[rest[i--]])) values.unshift(left % n[rest[i]]);
    return room < 90 || rest.length > 2 ? values.join(",") : rest.map((d, i) => "dimension " + d + ": " + values[i]).join(", ");
  }
  draw_compass(g, p) {
    g.font = "11px system-ui, sans-serif";
    g.strokeStyle = g.fillStyle = p.ink;
    g.lineWidth = 1.5;
    for (let d = 0; d < 3; ++d) {
      const [dx, dy] = this.layout.step(d), x = 46, y = this.height - 46;
      g.beginPath();
      g.moveTo(x, y);
      g.lineTo(x + 28 * dx, y + 28 * dy);
      g.stroke();
      g.textAlign = "center";
      g.fillText(d, x + 38 * dx, y + 38 * dy + 4);
    }
    g.textAlign = "left";
  }
  // Where there is no room for links, a frame around each small grid says where the nodes are.
  frame_panels(g, p) {
    const {layout, cell} = this;
    g.strokeStyle = p.frame;
    g.lineWidth = 1;
    for (let panel = 0; panel < layout.panels; ++panel) {
      const [x, y] = layout.corner(panel);
      g.strokeRect(this.x(x - 0.5) - 1, this.y(y - 0.5) - 1, layout.width * cell + 2, layout.height * cell + 2);
    }
  }

  // Calls f(node, dimension, hop, other, beside) for each link that is drawn: beside the node, or as an end that leaves over the border.
  each_link(f) {
    const {layout} = this, {shape} = this.run;
    for (let node = 0; node < shape.nodes; ++node) {
      for (let d = 0; d < shape.k; ++d) {
        const step = layout.step(d);
        if (!step || shape.extents[d] === 1 || shape.wiring[d] === "complete") continue;
        for (const hop of [1, -1]) {
          const other = shape.neighbour(node, d, hop);
          if (other < 0) continue;
          const off = Math.abs(layout.x[other] - layout.x[node] - step[0] * hop) + Math.abs(layout.y[other] - layout.y[node] - step[1] * hop);
          if (off > 1e-6 || hop > 0) f(node, d, hop, other, off <= 1e-6);
        }
      }
    }
  }
  draw_links(g, p) {
    const {layout, cell} = this, {shape} = this.run, width = Math.max(1, Math.min(5, cell * 0.06)), chords = [];
    const bar = (x0, y0, x1, y1) => {
      if (!layout.cube) {
        g.fillRect(this.x(Math.min(x0, x1)) - width / 2, this.y(Math.min(y0, y1)) - width / 2, Math.abs(x1 - x0) * cell + width, Math.abs(y1 - y0) * cell + width);
        return;
      }
      g.beginPath();
      g.moveTo(this.x(x0), this.y(y0));
      g.lineTo(this.x(x1), this.y(y1));
      g.stroke();
    };
    g.lineWidth = width;
    this.each_link((node, d, hop, other, beside) => {
      if (shape.is_dead(node, d, hop)) return;
      const [sx, sy] = layout.step(d), x = layout.x[node], y = layout.y[node], reach = beside ? 1 : layout.cube ? 0.6 : 0.75, slow = shape.slowness(node, d, hop) > 1;
      g.strokeStyle = g.fillStyle = slow ? p.slow : !beside && shape.twists(d) ? p.twist : p.link;
      // Slow links are of two lines.
      for (const off of slow ? [-0.07, 0.07] : [0])
        bar(x + sy * off, y + sx * off, x + sy * off + sx * hop * reach, y + sx * off + sy * hop * reach);
    });
    for (const d of [0, 1, 2].filter(axis => axis < shape.k && layout.step(axis) && shape.wiring[axis] === "complete" && shape.extents[axis] <= 16)) {
      for (let node = 0; node < shape.nodes; ++node) {
        for (let hop = 1; hop < shape.extents[d]; ++hop) {
          const other = shape.neighbour(node, d, hop);
          if (other < node || shape.is_dead(node, d, hop)) continue;
          const line = [[layout.x[node], layout.y[node]]];
          T.bow(line, layout.x[node], layout.y[node], layout.x[other], layout.y[other]);
          chords.push([line]);
        }
      }
    }
    g.strokeStyle = p.link;
    this.stroke_lines(g, chords);
  }
  // Where something is to be said of a link: it is dead, slow or twisted.
  find_marks() {
    const {layout} = this, {shape, data} = this.run;
    this.marks = [];
    if (!shape.faulty && !data.twisted) return;
    this.each_link((node, d, hop, other, beside) => {
      const dead = shape.is_dead(node, d, hop), slow = shape.slowness(node, d, hop), twist = !beside && shape.twists(d);
      if (shape.dead_nodes.has(node) || shape.dead_nodes.has(other) || !(dead || slow > 1 || twist)) return;
      const [sx, sy] = layout.step(d).map(part => part * hop), along = t => [layout.x[node] + sx * t, layout.y[node] + sy * t];
      this.marks.push({at: along(beside ? 0.5 : 0.55), end: along(0.8), side: [sx, sy], dead, slow, twist: twist ? shape.name(other) : ""});
    });
  }
  // What is dead, slow or twisted, in shapes and in figures.
  draw_marks(g, p) {
    const arm = Math.max(2.5, Math.min(9, this.cell * 0.13)), font = Math.max(9, Math.min(13, this.cell * 0.2));
    g.font = font + "px system-ui, sans-serif";
    g.textAlign = "center";
    g.textBaseline = "middle";
    for (const mark of this.marks) {
      const x = this.x(mark.at[0]), y = this.y(mark.at[1]);
      if (mark.dead) this.cross(g, x, y, arm, p.dead);
      if (mark.slow > 1 && this.cell >= 30) {
        g.fillStyle = p.slow;
        g.fillText("x" + mark.slow, x + (mark.side[0] === 0 ? this.cell * 0.1 + font : 0), y - (mark.side[0] === 0 ? 0 : this.cell * 0.1 + font * 0.7));
      }
      if (mark.twist && this.cell >= 28) {
        g.fillStyle = p.twist;
        g.textAlign = mark.side[0] > 0.5 ? "left" : mark.side[0] < -0.5 ? "right" : "center";
        g.fillText(mark.twist, this.x(mark.end[0]), this.y(mark.end[1]) + mark.side[1] * font * 0.5);
        g.textAlign = "center";
      }
    }
    // Links between slices have their places at the corners of the nodes, as the stubs of routes.
    const {shape} = this.run, {layout} = this;
    for (const link of layout.toward ? this.run.data.dead_links : []) {
      const [node, d, hop] = link;
      if (layout.step(d)) continue;
      for (const [end, sign] of [[node, hop], [shape.neighbour(node, d, hop), -hop]]) {
        const [tx, ty] = layout.toward(d);
        this.cross(g, this.x(layout.x[end] + Math.sign(sign) * tx * 0.55), this.y(layout.y[end] + Math.sign(sign) * ty * 0.55), arm * 0.8, p.dead);
      }
    }
    g.textAlign = "left";
    g.textBaseline = "alphabetic";
  }
  cross(g, x, y, arm, paint) {
    g.strokeStyle = paint;
    g.lineWidth = Math.max(1.5, arm * 0.3);
    g.beginPath();
    for (const sign of [1, -1]) {
      g.moveTo(x - arm, y - sign * arm);
      g.lineTo(x + arm, y + sign * arm);
    }
    g.stroke();
  }

  draw_nodes(p) {
    const {layout, cell, base} = this, {g, over} = base, {shape, sources, clock} = this.run;
    const fine = g.getTransform().a, whole_pixel = length => Math.round(length * fine) / fine;
    const size = this.filled ? cell : Math.max(1, whole_pixel(cell * (layout.cube ? 0.32 : 0.56))), thick = whole_pixel(Math.max(1, Math.min(4, cell * 0.06)));
    const core = whole_pixel(layout.cube ? cell * 0.32 - 2 : cell * (this.filled ? 0.5 : 0.22));
    // Edges on whole pixels are sharp, quick to fill, and leave nothing of the colour before.
    const box = (node, paint, by) => {
      const left = this.x(layout.x[node]) - size / 2, top = this.y(layout.y[node]) - size / 2;
      g.fillStyle = paint;
      if (this.filled) {
        const x = whole_pixel(left) - by, y = whole_pixel(top) - by;
        g.fillRect(x, y, whole_pixel(left + cell) - x, whole_pixel(top + cell) - y);
      } else {
        g.fillRect(whole_pixel(left) - by, whole_pixel(top) - by, size + 2 * by, size + 2 * by);
      }
    };
    const middle = (node, paint, by) => {
      over.fillStyle = paint;
      over.fillRect(whole_pixel(this.x(layout.x[node]) - core / 2) - by, whole_pixel(this.y(layout.y[node]) - core / 2) - by, core + 2 * by, core + 2 * by);
    };
    // Where there are several groups, a node has a rim of its group's colour; a coloured cell, a rim to the left and above.
    const rim = this.run.data.groups ? Math.max(1 / fine, whole_pixel(Math.min(7, size * 0.18))) : 1 / fine;
    const paint_of = share => base.paints.get(share) || base.paints.set(share, share < 0 ? p.link : share === 0 ? p.paper : css(T.colour(share))).get(share);
    const one = 1 / fine, marked = sources.size < shape.nodes;
    for (let i = 0; i < shape.nodes; ++i) {
      const node = layout.cube ? layout.order[i] : i, share = clock.share(node);
      if (share === base.share[node]) continue;
      base.share[node] = share;
      if (shape.dead_nodes.has(node)) continue;
      const paint = paint_of(share);
      const frame = this.paint_of_group(p, node, p.frame);
      if (!this.filled && marked && sources.has(node)) box(node, p.ink, thick);
      if (!this.filled || frame !== p.frame) box(node, frame, 0);
      box(node, paint, this.filled && frame === p.frame ? 0 : -rim);
      if (core < 3) continue;
      if (layout.cube) middle(node, frame, one);
      middle(node, paint, 0);
    }
  }
  draw_dead(g, p) {
    const arm = Math.max(1.5, this.filled ? this.cell * 0.35 : this.cell * 0.2);
    for (const node of this.run.shape.dead_nodes) this.cross(g, this.x(this.layout.x[node]), this.y(this.layout.y[node]), arm, p.dead);
  }

  // Many short paths: the time of one takes more than in proportion to its lines.
  stroke_lines(g, all) {
    let left = 0;
    g.beginPath();
    for (const lines of all) {
      for (const line of lines) {
        g.moveTo(this.x(line[0][0]), this.y(line[0][1]));
        for (let i = 1; i < line.length; ++i) g.lineTo(this.x(line[i][0]), this.y(line[i][1]));
      }
      if (++left % 16 > 0) continue;
      g.stroke();
      g.beginPath();
    }
    g.stroke();
  }
}
