"use strict";
// What the page shows: the data, what is chosen, and the pictures of it.
const T = Torus;
const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const shape = T.shape_of(data);
const by_step = data.by_step, last_time = by_step.step.length;
const whole = data.left_out === null;
const messages = whole ? T.messages_of(data, shape) : null;
const clock = whole ? T.clock_of(data, messages) : null;
const phases = T.phase_runs(by_step.phase);
const model_times = T.model_times(data);
const sources = new Set(data.sources || []), wants = T.wants_of(data.collective);
const state = {time: 0, playing: 0, node: -1, run_loads: null, printing: false};
let layout = null, cell = 10;
const strip_left = 64;  // pixels for the names of the strip's bars

const dark = () => !state.printing && matchMedia("(prefers-color-scheme: dark)").matches;
function palette() {
  return dark()
    ? {paper: "#1d2126", ink: "#e6e9ed", soft: "#9aa4af", link: "#3b434c", frame: "#77818c", route: "#ff9a52", control: "#9ecbff"}
    : {paper: "#f4f6f8", ink: "#1b1f24", soft: "#5c6570", link: "#c3cad2", frame: "#8a939d", route: "#c04a00", control: "#345f99"};
}
const css = c => "rgb(" + c.join(",") + ")";
const bytes_text = n => T.grouped(n) + " B";
const counted = (n, word) => T.grouped(n) + " " + word + (n === 1 ? "" : "s");
function element(tag, text, cls) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
}
// A canvas of so many CSS pixels, sharp on fine screens as far as canvases go. Its context, in CSS pixels.
function prepared(canvas, width, height) {
  const fine = Math.min(window.devicePixelRatio || 1, 16000 / width, 16000 / height);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  canvas.width = Math.max(1, Math.round(width * fine));
  canvas.height = Math.max(1, Math.round(height * fine));
  // Drawn by the processor: many small shapes are slow on a graphics device that is emulated.
  const g = canvas.getContext("2d", {willReadFrequently: true});
  g.setTransform(fine, 0, 0, fine, 0, 0);
  return g;
}
const centre_x = x => (x + 1.5) * cell, centre_y = y => (y + 1.5) * cell;

// Where there is no room for links, a frame around each small grid says where the nodes are.
function frame_panels(g, p) {
  g.strokeStyle = p.frame;
  g.lineWidth = 1;
  for (let panel = 0; panel < layout.panels; ++panel) {
    const x = (panel % layout.panel_columns) * (layout.width + layout.gap), y = Math.floor(panel / layout.panel_columns) * (layout.height + layout.gap);
    g.strokeRect(centre_x(x - 0.5) - 1, centre_y(y - 0.5) - 1, layout.width * cell + 2, layout.height * cell + 2);
  }
}

function draw_links(g, p) {
  if (cell < 5) {
    frame_panels(g, p);
    return;
  }
  const width = Math.max(1, cell * 0.06), curves = [];
  g.strokeStyle = g.fillStyle = p.link;
  g.lineWidth = width;
  const bar = (x0, y0, x1, y1) => g.fillRect(centre_x(Math.min(x0, x1)) - width / 2, centre_y(Math.min(y0, y1)) - width / 2,
                                             Math.abs(x1 - x0) * cell + width, Math.abs(y1 - y0) * cell + width);
  for (let node = 0; node < shape.nodes; ++node) {
    const x = layout.x[node], y = layout.y[node];
    for (const d of [layout.across, layout.down]) {
      if (d < 0 || shape.extents[d] === 1) continue;
      const across = d === layout.across;
      if (shape.wiring[d] === "complete") {
        for (let hop = 1; hop < shape.extents[d]; ++hop) {
          const other = shape.neighbour(node, d, hop);
          if (other < node || shape.extents[d] > 16) continue;
          const line = [[x, y]];
          T.bow(line, x, y, layout.x[other], layout.y[other]);
          curves.push([line]);
        }
        continue;
      }
      for (const hop of [1, -1]) {
        const other = shape.neighbour(node, d, hop);
        if (other < 0) continue;
        const beside = across ? layout.x[other] - x === hop && layout.y[other] === y : layout.y[other] - y === hop;
        if (beside && hop < 0) continue;
        if (beside) bar(x, y, layout.x[other], layout.y[other]);
        else bar(x, y, x + (across ? 0.75 * hop : 0), y + (across ? 0 : 0.75 * hop));
      }
    }
  }
  stroke_lines(g, curves);
}

// Many short paths: the time of one takes more than in proportion to its lines.
function stroke_lines(g, all) {
  let left = 0;
  g.beginPath();
  for (const lines of all) {
    for (const line of lines) {
      g.moveTo(centre_x(line[0][0]), centre_y(line[0][1]));
      for (let i = 1; i < line.length; ++i) g.lineTo(centre_x(line[i][0]), centre_y(line[i][1]));
    }
    if (++left % 16 > 0) continue;
    g.stroke();
    g.beginPath();
  }
  g.stroke();
}

// The links and the nodes, as they were drawn last. A step draws the nodes anew whose share has changed, and copies the rest.
let base = null;
function draw_base(width, height, p) {
  const key = [cell, window.devicePixelRatio, p.paper, state.printing].join();
  if (!base || base.key !== key || base.layout !== layout) {
    const canvas = element("canvas");
    base = {key, layout, canvas, g: prepared(canvas, width, height), share: new Float64Array(shape.nodes).fill(NaN)};
    draw_links(base.g, p);
  }
  draw_nodes(base.g, p);
  return base.canvas;
}

function draw_nodes(g, p) {
  const fine = g.getTransform().a, whole_pixel = length => Math.round(length * fine) / fine;
  const size = cell < 5 ? cell : Math.max(1, whole_pixel(cell * 0.56)), thick = whole_pixel(Math.max(1, cell * 0.06));
  // Edges on whole pixels are sharp, quick to fill, and leave nothing of the colour before.
  const box = (node, paint, by) => {
    const left = centre_x(layout.x[node]) - size / 2, top = centre_y(layout.y[node]) - size / 2;
    g.fillStyle = paint;
    if (cell < 5) {
      const x = whole_pixel(left), y = whole_pixel(top);
      g.fillRect(x, y, whole_pixel(left + cell) - x, whole_pixel(top + cell) - y);
    } else {
      g.fillRect(whole_pixel(left) - by, whole_pixel(top) - by, size + 2 * by, size + 2 * by);
    }
  };
  const one = 1 / fine;
  for (let node = 0; node < shape.nodes; ++node) {
    const share = clock.share(node);
    if (share === base.share[node]) continue;
    base.share[node] = share;
    if (cell >= 5 && sources.size < shape.nodes && sources.has(node)) box(node, p.ink, thick);
    else if (cell >= 5) box(node, p.frame, 0);
    box(node, share < 0 ? p.link : share === 0 ? p.paper : css(T.colour(share)), -one);
  }
}

function draw_choice(g, p) {
  if (state.node >= 0) {
    const ring = Math.max(cell * 0.46, 4);
    g.strokeStyle = p.ink;
    g.lineWidth = Math.max(2, cell * 0.08);
    g.strokeRect(centre_x(layout.x[state.node]) - ring, centre_y(layout.y[state.node]) - ring, 2 * ring, 2 * ring);
  }
}

// Where a route ends: a point of `head` pixels, or where that is too small to show a direction, a square.
function fill_heads(g, all, head) {
  all.forEach((lines, i) => {
    const line = lines[lines.length - 1], b = line[line.length - 1], a = line[line.length - 2], x = centre_x(b[0]), y = centre_y(b[1]);
    if (head < 3) {
      g.fillRect(x - 1, y - 1, 2, 2);
      return;
    }
    if (i % 16 === 0) g.beginPath();
    const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
    g.moveTo(x + head * 0.5 * Math.cos(angle), y + head * 0.5 * Math.sin(angle));
    g.lineTo(x + head * Math.cos(angle + 2.5), y + head * Math.sin(angle + 2.5));
    g.lineTo(x + head * Math.cos(angle - 2.5), y + head * Math.sin(angle - 2.5));
    if (i % 16 === 15 || i + 1 === all.length) g.fill();
  });
}

function draw_routes(g, p) {
  if (state.time === 0) return;
  const data_lines = [], control_lines = [];
  for (let m = messages.first[state.time - 1]; m < messages.first[state.time]; ++m) {
    const lines = T.route_lines(shape, layout, messages.source[m], messages.path(m));
    if (lines.length > 0) (messages.block_count[m] > 0 ? data_lines : control_lines).push(lines);
  }
  const width = Math.max(0.8, Math.min(3, cell * 0.08)), few = data_lines.length + control_lines.length <= 4000;
  g.lineJoin = "round";
  for (const [all, paint, dash] of [[control_lines, p.control, [3, 3]], [data_lines, p.route, []]]) {
    if (all.length === 0) continue;
    if (few && cell >= 5) {
      g.strokeStyle = p.paper;
      g.lineWidth = width + 2;
      stroke_lines(g, all);
    }
    g.strokeStyle = g.fillStyle = paint;
    g.lineWidth = width;
    g.setLineDash(dash);
    stroke_lines(g, all);
    g.setLineDash([]);
    if (cell >= 5) fill_heads(g, all, Math.min(10, cell * 0.24));
  }
}

function draw_torus() {
  const room = state.printing ? 960 : Math.max(200, $("machine").clientWidth - 26), high = state.printing ? 700 : Math.max(320, innerHeight - 310);
  const columns = layout.columns + 2, rows = layout.rows + 2;
  cell = Math.max(3, Math.min(56, room / columns, high / rows));
  cell = Math.min(cell, 16000 / columns, 16000 / rows);
  const g = prepared($("torus"), columns * cell, rows * cell), p = palette(), fine = g.getTransform();
  g.setTransform(1, 0, 0, 1, 0, 0);
  g.drawImage(draw_base(columns * cell, rows * cell, p), 0, 0);
  g.setTransform(fine);
  draw_routes(g, p);
  draw_choice(g, p);
}

// How many channels carry up to a tenth of the fullest one's bytes, up to two tenths, ..
function draw_histogram(loads) {
  const wide = 330, high = 64, g = prepared($("histogram"), wide, high + 30), p = palette(), w = wide / loads.histogram.length;
  const most = Math.max(1, ...loads.histogram), used = loads.histogram.reduce((a, b) => a + b, 0);
  g.font = "11px system-ui, sans-serif";
  g.textAlign = "center";
  loads.histogram.forEach((count, i) => {
    const h = Math.ceil(count / most * high);
    g.fillStyle = p.route;
    g.fillRect(i * w + 1, 14 + high - h, w - 2, h);
    g.fillStyle = p.ink;
    if (count > 0) g.fillText(T.grouped(count), (i + 0.5) * w, 11 + high - h, w);
  });
  g.fillRect(0, 14 + high, wide, 1);
  g.textAlign = "left";
  g.fillText("0", 0, high + 28);
  g.textAlign = "right";
  if (loads.busiest.length > 0) g.fillText(bytes_text(loads.busiest[0].bytes), wide, high + 28);
  $("idle").textContent = T.grouped(data.channels - used) + " of " + counted(data.channels, "channel") + " idle";
}

// A pixel of the image is a node: the browser enlarges it.
function draw_loads() {
  const step = $("span_step").checked;
  let loads;
  if (step) {
    loads = state.time === 0 ? T.loads_of(shape, messages, 0, 0, 8)
                             : T.loads_of(shape, messages, messages.first[state.time - 1], messages.first[state.time], 8);
  } else {
    loads = state.run_loads = state.run_loads || T.loads_of(shape, messages, 0, messages.count, 8);
  }
  $("scale").textContent = loads.most > 0 ? "yellow: " + bytes_text(loads.most) : "nothing carried";
  const zoom = Math.max(1, Math.min(8, Math.floor(150 / layout.columns), Math.floor(150 / layout.rows)));
  const wide = Math.min(330, layout.columns * zoom), empty = dark() ? [20, 23, 27] : [255, 255, 255], none = dark() ? [59, 67, 76] : [201, 208, 216];
  shape.maps.forEach((map, i) => {
    const canvas = $("maps").children[i].firstChild, values = loads.by_map[i];
    canvas.width = layout.columns;
    canvas.height = layout.rows;
    canvas.style.width = wide + "px";
    canvas.style.height = wide * layout.rows / layout.columns + "px";
    const g = canvas.getContext("2d", {willReadFrequently: true}), image = g.createImageData(layout.columns, layout.rows);
    for (let node = 0; node < shape.nodes; ++node) {
      const at = 4 * (layout.y[node] * layout.columns + layout.x[node]);
      const missing = map.hop !== 0 && shape.neighbour(node, map.dimension, map.hop) < 0;
      const c = missing ? none : values[node] === 0 ? empty : T.colour(values[node] / loads.most);
      image.data[at] = c[0];
      image.data[at + 1] = c[1];
      image.data[at + 2] = c[2];
      image.data[at + 3] = 255;
    }
    g.putImageData(image, 0, 0);
  });
  draw_histogram(loads);
  const table = $("busiest");
  table.replaceChildren();
  for (const channel of loads.busiest) {
    const row = table.insertRow(), button = element("button", channel.text);
    button.onclick = () => choose(channel.node);
    row.insertCell().append(button);
    const bytes = row.insertCell();
    bytes.className = "number";
    bytes.textContent = bytes_text(channel.bytes);
  }
  if (loads.busiest.length === 0) table.insertRow().insertCell().textContent = "none";
}

function message_table(list, other, title) {
  const box = element("div", undefined, "scroll"), table = element("table"), most = 200;
  const head = table.insertRow();
  for (const text of ["step", title, "route", "blocks", "bytes"]) head.append(element("th", text, text === "bytes" || text === "step" ? "number" : ""));
  for (const m of list.subarray(0, most)) {
    const row = table.insertRow(), ranges = messages.ranges(m), count = messages.block_count[m];
    if (messages.step[m] >= state.time) row.className = "later";
    const what = count > 0 && messages.registers ? " (" + T.effect_text(messages.registers[m], messages.releases[m]) + ")" : "";
    const blocks = count === 0 ? (wants === "nodes" ? "none" : "none: control") : (ranges ? T.blocks_text(data, shape, ranges, 4) : T.grouped(count) + " blocks") + what;
    [T.grouped(by_step.step[messages.step[m]]), shape.name(other[m]), T.route_text(messages.path(m)), blocks, T.grouped(messages.bytes[m])]
      .forEach((text, i) => row.append(element("td", text, i === 0 || i === 4 ? "number" : "")));
  }
  box.append(table);
  if (list.length > most) box.append(element("p", "and " + T.grouped(list.length - most) + " more", "soft"));
  if (list.length === 0) box.append(element("p", "nothing", "soft"));
  return box;
}

function show_node() {
  if (state.node < 0) return;
  const node = state.node, box = $("node"), heard = messages.heard_by(node), sent = messages.sent_by(node);
  const top = [...box.querySelectorAll(".scroll")].map(e => e.scrollTop);
  box.className = "";
  box.replaceChildren();
  $("node_title").textContent = "Node " + shape.name(node) + ", rank " + T.grouped(node) + (sources.size < shape.nodes && sources.has(node) ? ", " + T.source_word(data.collective) : "");
  const wanted = data.wanted[node];
  const has = T.grouped(clock.held[node]) + " of ";
  box.append(element("p", wants === "nodes"          ? "Has heard of " + has + counted(wanted, "node") + "."
                          : wants === "contributors" ? (wanted > 0 ? "Has had " + has + "the " + counted(wanted, "contribution") + " that it wants." : "It wants no result.")
                          : wanted > 0               ? "Holds " + has + "the " + T.grouped(wanted) + " blocks that it is to hold."
                                                     : "It is to hold no blocks."));
  const before = heard.filter(m => messages.step[m] < state.time);
  if (data.each.ranges && wants === "blocks") {
    const ranges = T.first_blocks(data, node);
    for (const m of before) for (const range of messages.ranges(m)) ranges.push(range);
    box.append(element("p", "Has had: " + T.blocks_text(data, shape, T.union(ranges), 12) + "."));
  }
  const first = heard.find(m => wants === "nodes" || messages.block_count[m] > 0);
  if (first !== undefined)
    box.append(element("p", (wants === "nodes" ? "First message: step " : "First data: step ") + T.grouped(by_step.step[messages.step[first]]) + " from " + shape.name(messages.source[first]) + " by " + T.route_text(messages.path(first)) + "."));
  box.append(element("h2", "Heard (" + T.grouped(before.length) + " of " + T.grouped(heard.length) + " messages so far)"), message_table(heard, messages.source, "from"));
  box.append(element("h2", "Sent (" + T.grouped(sent.filter(m => messages.step[m] < state.time).length) + " of " + T.grouped(sent.length) + " so far)"), message_table(sent, messages.destination, "to"));
  [...box.querySelectorAll(".scroll")].forEach((e, i) => { e.scrollTop = top[i] || 0; });
}

function draw_strip() {
  const canvas = $("strip"), width = Math.max(100, canvas.clientWidth), p = palette();
  const g = prepared(canvas, width, 84);
  canvas.style.width = "";
  const top = phases.length > 0 ? 16 : 2, middle = 52, bottom = 82;
  // Time 0 is before the first step: it has a place of its own, to the left of the bars.
  const slot = (width - strip_left) / (last_time + 1), start = strip_left + slot;
  if (phases.length > 0) {
    g.font = "11px system-ui, sans-serif";
    phases.forEach(([from, to, phase], i) => {
      const x = start + from * slot, w = (to - from) * slot;
      g.fillStyle = i % 2 ? p.frame : p.link;
      g.globalAlpha = 0.5;
      g.fillRect(x, 0, w, 14);
      g.globalAlpha = 1;
      if (w < 30) return;
      g.save();
      g.beginPath();
      g.rect(x, 0, w, 14);
      g.clip();
      g.fillStyle = p.ink;
      g.fillText(data.phases[phase], x + 3, 11);
      g.restore();
    });
  }
  const bars = (values, paint, from, height, sign) => {
    const columns = T.bars_of(values, width - start), w = (width - start) / columns.length;
    let most = 0;
    for (const value of columns) most = Math.max(most, value);
    g.fillStyle = paint;
    columns.forEach((value, i) => {
      const h = most > 0 ? value / most * height : 0;
      g.fillRect(start + i * w, sign > 0 ? from - h : from, w > 3 ? w - 1 : w, h);
    });
  };
  bars(by_step.bytes, p.route, middle, middle - top, 1);
  bars(by_step.messages, p.control, middle + 1, bottom - middle - 1, -1);
  g.fillStyle = p.ink;
  g.font = "11px system-ui, sans-serif";
  g.fillText("bytes", 2, middle - 4);
  g.fillText("messages", 2, middle + 12);
  g.strokeStyle = p.ink;
  g.lineWidth = 2;
  g.strokeRect(Math.min(width - 3, strip_left + state.time * slot) + 1, 1, Math.max(1, slot - 2), 82);
}

function where_text() {
  if (state.time === 0) return "before the first step; " + T.grouped(last_time) + " steps with messages";
  const i = state.time - 1, phase = by_step.phase[i];
  return "step " + T.grouped(by_step.step[i]) + " (" + T.grouped(state.time) + " of " + T.grouped(last_time) + " with messages): " +
         counted(by_step.messages[i], "message") + ", " + counted(by_step.hops[i], "hop") + ", " + bytes_text(by_step.bytes[i]) +
         (phase >= 0 ? ", " + data.phases[phase] : "") + (model_times ? "; model time " + T.seconds_text(model_times[i]) : "");
}

function draw_all() {
  if (whole) {
    draw_torus();
    draw_loads();
    show_node();
  }
  draw_strip();
  $("where").textContent = where_text();
  $("strip").setAttribute("aria-valuemax", last_time);
  $("strip").setAttribute("aria-valuenow", state.time);
  $("strip").setAttribute("aria-valuetext", where_text());
}
let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw_all();
  });
}
