"use strict";
// Where nodes stand, and the lines of routes between them: in slices or as a cube that turns. Without a page, as run.js.
Object.assign(Torus, (() => {

// The slices, in cells. Dimension `across` runs to the right and `down` downwards; the others make a matrix of such grids. A long row is
// folded. step(d): how far a hop of +1 goes; none where it leads to another slice, as `toward` points.
function layout_of(shape, across, down) {
  const n = shape.extents, k = shape.k;
  const rest = [];
  for (let d = 0; d < k; ++d) if (d !== across && d !== down) rest.push(d);
  const folded = down < 0 && n[across] > 64;
  const width = folded ? 64 : n[across];
  const height = folded ? Math.ceil(n[across] / 64) : down < 0 ? 1 : n[down];
  const panels = rest.reduce((product, d) => product * n[d], 1);
  let panel_columns = 1;
  if (rest.length === 1) {
    // About a square, or up to twice as wide where then no row has an empty place.
    const square = Math.sqrt(panels * height / width);
    panel_columns = Math.ceil(square);
    for (let c = panel_columns; c < 2 * square; ++c) if (panels % c === 0) { panel_columns = c; break; }
  }
  if (rest.length > 1) for (const d of rest.slice(Math.floor(rest.length / 2))) panel_columns *= n[d];
  panel_columns = Math.max(1, Math.min(panels, panel_columns));
  const panel_rows = Math.ceil(panels / panel_columns);
  const ring = [across, down].some(d => d >= 0 && n[d] > 1 && shape.wiring[d] === "ring");
  const gap = panels === 1 ? 0 : ring ? 2 : 1;  // room for the ends of lines that leave over the border
  const x = new Int32Array(shape.nodes), y = new Int32Array(shape.nodes), panel = new Int32Array(shape.nodes);
  for (let node = 0; node < shape.nodes; ++node) {
    let p = 0;
    for (const d of rest) p = p * n[d] + shape.coordinate(node, d);
    const c = shape.coordinate(node, across), r = down < 0 ? 0 : shape.coordinate(node, down);
    panel[node] = p;
    x[node] = (p % panel_columns) * (width + gap) + (folded ? c % width : c);
    y[node] = Math.floor(p / panel_columns) * (height + gap) + (folded ? Math.floor(c / width) : r);
  }
  const at = new Map();
  const columns = panel_columns * (width + gap) - gap, rows = panel_rows * (height + gap) - gap;
  for (let node = 0; node < shape.nodes; ++node) at.set(y[node] * columns + x[node], node);
  const corner = p => [(p % panel_columns) * (width + gap), Math.floor(p / panel_columns) * (height + gap)];
  const toward = d => {
    const angle = Math.PI / 2 * (rest.indexOf(d) + 1) / (rest.length + 1);
    return [Math.cos(angle), -Math.sin(angle)];
  };
  const node_at = (cx, cy) => {
    const column = Math.round(cx), row = Math.round(cy);
    return column >= 0 && column < columns && at.has(row * columns + column) ? at.get(row * columns + column) : -1;
  };
  return {across, down, rest, folded, width, height, panels, panel_columns, panel_rows, gap, x, y, panel, columns, rows, corner, toward, node_at,
          step: d => (d === across ? [1, 0] : d === down ? [0, 1] : null), cube: false};
}

// Three dimensions as a cube, seen from afar after a turn by `yaw` about the vertical and a tilt by `pitch`. `order`: from back to front.
function cube_of(shape, yaw, pitch) {
  const n = shape.extents, c = Math.cos(yaw), s = Math.sin(yaw), u = Math.cos(pitch), v = Math.sin(pitch);
  // Dimension 2 runs to the right, 1 downwards, 0 away from the reader.
  const axes = [[s, -c * v, c * u], [0, u, v], [c, s * v, -s * u]];
  const reach = i => n.reduce((sum, extent, d) => sum + Math.abs(axes[d][i]) * (extent + 0.4), 0.2), columns = reach(0), rows = reach(1);
  const at = [0, 1, 2].map(i => {
    const list = new Float64Array(shape.nodes);
    for (let node = 0; node < shape.nodes; ++node)
      for (let d = 0; d < 3; ++d) list[node] += (shape.coordinate(node, d) - (n[d] - 1) / 2) * axes[d][i];
    return list;
  });
  const order = Array.from({length: shape.nodes}, (_, node) => node).sort((a, b) => at[2][b] - at[2][a]);
  const x = at[0].map(value => value + (columns - 1) / 2), y = at[1].map(value => value + (rows - 1) / 2);
  const node_at = (cx, cy) => {
    let best = -1;
    for (const node of order) if (Math.hypot(x[node] - cx, y[node] - cy) < 0.25) best = node;
    return best;
  };
  return {across: 2, down: 1, rest: [], folded: false, panels: 1, x, y, depth: at[2], order, columns, rows, node_at, toward: null,
          step: d => [axes[d][0], axes[d][1]], cube: true};
}

// Which way a hop goes in the picture, in words.
function direction_text(shape, layout, d, hop) {
  if (shape.wiring[d] !== "complete" && d === layout.across) return hop > 0 ? "right" : "left";
  if (shape.wiring[d] !== "complete" && d === layout.down) return hop > 0 ? "down" : "up";
  if (layout.cube && shape.wiring[d] !== "complete") return hop > 0 ? "back" : "front";
  return (hop === 0 ? "any" : Torus.signed(hop)) + " in dimension " + d;
}
function route_text(shape, layout, path) {
  const legs = path.map(([d, hops]) => {
    const word = direction_text(shape, layout, d, hops);
    return word.includes(" ") ? word : Math.abs(hops) + " " + word;
  });
  return legs.join(", ") || "no hop";
}

// The lines of a message's route in cells: lists of points [x, y]. A hop over the border ends a line outside and begins the next one on
// the other side. Lines keep to the right of their direction of travel, so that the two directions of a link stay apart. `only`: of that
// dimension alone, if it is not -1. Between slices there are curves, or with `stubs` none (stubs_of).
function route_lines(shape, layout, source, path, only = -1, stubs = false) {
  const lane = 0.14, near = 0.3, outside = 0.75;
  const lines = [];
  let line = [[layout.x[source], layout.y[source]]];
  let leg = null;   // of the last hop, if it was straight
  let stop = null;  // where the line would end after that hop: short of the node
  let arc = null;   // of the last hops, if they were not
  const finish = () => {
    if (stop) line.push(stop);
    if (arc && line.length === 0) line.push([arc.x, arc.y]);
    if (arc) bow(line, arc.x, arc.y, arc.to[0], arc.to[1]);
    stop = arc = null;
  };
  const cut = () => {
    finish();
    if (line.length > 1) lines.push(line);
    line = [];
    leg = null;
  };
  Torus.each_channel(shape, source, path, (from, d, hop, to) => {
    const x0 = layout.x[from], y0 = layout.y[from], x1 = layout.x[to], y1 = layout.y[to], step = layout.step(d);
    if ((only >= 0 && d !== only) || (stubs && !step)) {
      cut();
      return;
    }
    if (shape.wiring[d] === "complete" || !step) {
      // A leg from one small grid to another is one curve, however many grids it passes.
      const goes_on = arc !== null && arc.d === d && arc.hop === hop && shape.wiring[d] !== "complete";
      if (!goes_on) {
        finish();
        arc = {d, hop, x: x0, y: y0};
      }
      arc.to = [x1, y1];
      leg = null;
      return;
    }
    if (arc) finish();
    const dx = step[0] * hop, dy = step[1] * hop;
    const ox = -dy * lane, oy = dx * lane;
    if (leg === null || leg[0] !== d || leg[1] !== hop) {
      finish();
      line.push([x0 + ox + near * dx, y0 + oy + near * dy]);
    }
    if (Math.abs(x1 - x0 - dx) + Math.abs(y1 - y0 - dy) > 1e-6) {
      line.push([x0 + ox + outside * dx, y0 + oy + outside * dy]);
      lines.push(line);
      line = [[x1 + ox - outside * dx, y1 + oy - outside * dy]];
    }
    leg = [d, hop];
    stop = [x1 + ox - near * dx, y1 + oy - near * dy];
  });
  finish();
  if (line.length > 1) lines.push(line);
  return lines;
}

// The legs of a route from slice to slice, as [node where it leaves, node where it arrives, dimension, direction].
function stubs_of(shape, layout, source, path, only) {
  const stubs = [];
  let last = null;
  Torus.each_channel(shape, source, path, (from, d, hop, to) => {
    const between = !layout.step(d) && (only < 0 || d === only);
    if (between && last && last[1] === from && last[2] === d && shape.wiring[d] !== "complete") last[1] = to;
    else if (between) stubs.push(last = [from, to, d, Math.sign(hop)]);
    if (!between) last = null;
  });
  return stubs;
}

// A curve from one node to another that is no neighbour in the grid.
function bow(line, x0, y0, x1, y1) {
  const dx = x1 - x0, dy = y1 - y0, length = Math.hypot(dx, dy) || 1;
  const rise = Math.min(0.2 * length + 0.2, 2);  // the curve rises by half of it, and stays within the picture's margin
  const mx = (x0 + x1) / 2 - dy / length * rise, my = (y0 + y1) / 2 + dx / length * rise;
  for (let i = 1; i <= 8; ++i) {
    const t = i / 8, u = 1 - t;
    line.push([u * u * x0 + 2 * u * t * mx + t * t * x1, u * u * y0 + 2 * u * t * my + t * t * y1]);
  }
}

return {layout_of, cube_of, direction_text, route_text, route_lines, stubs_of, bow};
})());
