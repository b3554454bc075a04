"use strict";
// What the page shows beside the pictures: loads, a node, the strip of steps. Where there are two runs, their pictures and strips alone.
function run_of(data) {
  const shape = T.shape_of(data), by_step = data.by_step, whole = data.left_out === null;
  const messages = whole || data.map ? T.messages_of(data, shape) : null;
  return {data, shape, by_step, messages, whole, clock: whole ? T.clock_of(data, messages) : data.map ? T.clock_of_map(data) : null, last_time: by_step.step.length, phases: T.phase_runs(by_step.phase),
          model_times: T.model_times(data), sources: new Set(data.sources || []), wants: T.wants_of(data.collective)};
}
const other_data = JSON.parse($("other").textContent);
const runs = [run_of(JSON.parse($("data").textContent))];
if (other_data) runs.push(run_of(other_data));
const {data, shape, by_step, messages, clock, whole, phases, model_times, sources, wants} = runs[0];
const two = runs.length === 2, names = two ? T.names_of(runs) : [], drawn = runs.every(run => run.clock);
const pictures = drawn ? runs.map((run, r) => new Picture(run, $("torus" + r))) : [], picture = pictures[0];
let moments = T.moments_of(runs, false), last_time = moments.length - 1;
let slices = null;       // the layout of the first run in slices, which its loads have too
const strip_left = 64;  // pixels for the names of the strip's bars

const bytes_text = n => T.grouped(n) + " B";
const counted = (n, word) => T.grouped(n) + " " + word + (n === 1 ? "" : "s");
const route_text = path => T.route_text(shape, picture.layout, path);

// The pictures share the room, side by side or, on narrow screens, one below the other.
function draw_pictures() {
  const wide = state.printing ? 960 : Math.max(200, $("stage").clientWidth), beside = two && wide >= 600 ? 2 : 1;
  const above = $("stage").getBoundingClientRect().top + scrollY, captions = two ? 48 : 0;
  const high = state.printing ? 700 : Math.max(300, innerHeight - $("player").offsetHeight - above - 28 - captions);
  pictures.forEach((picture, r) => {
    const {times, busy} = moments[state.time];
    picture.fit(wide / beside - (beside - 1) * 10, two && beside === 1 ? Math.max(240, high / 2 - captions) : high);
    picture.draw(times[r], busy[r], state.run === r ? state.node : -1);
    if (two) $("now" + r).textContent = now_text(runs[r], times[r], busy[r]);
    if (two) $("now" + r).className = times[r] === runs[r].last_time && !busy[r] ? "done" : "";
  });
}
// What channels carry in a whole run.
const loads_of_run = run => run.loads = run.loads || (run.data.map ? T.loads_of_channels(run.shape, Array.from(run.data.map.load.keys()).filter(c => run.data.map.load[c] > 0), c => run.data.map.load[c], 8)
                                                                   : T.loads_of(run.shape, run.messages, 0, run.messages.count, 8));
const used_channels = loads => loads.histogram.reduce((a, b) => a + b, 0);
// A run does not carry out the step in which a rule is broken.
const broke_off = (run, time) => Boolean(run.data.failure && run.data.failure.violations && time === run.data.failure.time);
const idle_text = (run, loads) => T.grouped(run.data.channels - used_channels(loads)) + " of " + counted(run.data.channels, "channel") + " idle";
// Where one of two runs is, and what its channels carry: at the start and at the end, in all.
function now_text(run, time, busy) {
  const i = time - 1, {by_step, data} = run, begins = data.together ? data.together.begins : 0, done = !busy && time === run.last_time;
  if (broke_off(run, time)) return "step " + T.grouped(by_step.step[i]) + ": " + not_carried_out(run);
  if (time === 0 || done) {
    const loads = loads_of_run(run), takes = T.model_time_text(data, run.model_times);
    return (time > 0 ? "done after " : begins > 0 ? "begins at step " + T.grouped(begins) + "; " : "") + counted(data.steps, "step") + (takes && ", " + takes) +
           (loads.most > 0 ? "; busiest channel " + bytes_text(loads.busiest[0].bytes) + ", " + idle_text(run, loads) : "");
  }
  return "step " + T.grouped(by_step.step[i]) + " of " + T.grouped(begins + data.steps) + ": " +
         (busy ? counted(by_step.messages[i], "message") + ", " + bytes_text(by_step.bytes[i]) + (by_step.fullest ? ", fullest channel " + bytes_text(by_step.fullest[i]) : "") : "no messages");
}

const not_carried_out = ({data}) => counted(data.failure.violations, "violation") + ", not carried out";

// How many channels carry up to a tenth of the fullest one's bytes, up to two tenths, ..
function draw_histogram(loads) {
  const wide = 330, high = 64, g = prepared($("histogram"), wide, high + 30), p = palette(), w = wide / loads.histogram.length;
  const most = Math.max(1, ...loads.histogram);
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
}

// The nodes that have no channel of a map: at the end of a line, or dead.
function no_channels({dimension, hop}) {
  return Array.from({length: shape.nodes}, (_, node) => shape.dead_nodes.has(node) || (hop !== 0 && (shape.neighbour(node, dimension, hop) < 0 || shape.is_dead(node, dimension, hop))));
}
// A pixel of the image is a node: the browser enlarges it.
function draw_loads() {
  const step = $("span_step").checked && whole, layout = slices;
  let loads;
  if (step) {
    loads = state.time === 0 ? T.loads_of(shape, messages, 0, 0, 8)
                             : T.loads_of(shape, messages, messages.first[state.time - 1], messages.first[state.time], 8);
  } else {
    loads = loads_of_run(runs[0]);
  }
  const refused = step && broke_off(runs[0], state.time);
  $("scale").textContent = refused ? not_carried_out(runs[0]) : loads.most > 0 ? "yellow: " + bytes_text(loads.most) : "nothing carried";
  $("idle").textContent = refused ? "" : idle_text(runs[0], loads);
  const zoom = Math.max(1, Math.min(8, Math.floor(150 / layout.columns), Math.floor(150 / layout.rows)));
  const wide = Math.min(330, layout.columns * zoom), empty = dark() ? [20, 23, 27] : [255, 255, 255], none = dark() ? [59, 67, 76] : [201, 208, 216];
  const paints = new Map([[0, empty]]);  // by bytes, of which there are few
  const paint = bytes => paints.get(bytes) || paints.set(bytes, T.colour(bytes / loads.most)).get(bytes);
  shape.maps.forEach((map, i) => {
    const canvas = $("maps").children[i].firstChild, values = loads.by_map[i];
    $("maps").children[i].lastChild.textContent = T.direction_text(shape, layout, map.dimension, map.hop);
    if (canvas.width !== layout.columns) canvas.width = layout.columns;
    if (canvas.height !== layout.rows) canvas.height = layout.rows;
    canvas.style.width = wide + "px";
    canvas.style.height = wide * layout.rows / layout.columns + "px";
    const g = canvas.getContext("2d", {willReadFrequently: true}), image = g.createImageData(layout.columns, layout.rows), missing = map.missing = map.missing || no_channels(map);
    for (let node = 0; node < shape.nodes; ++node) {
      const at = 4 * (layout.y[node] * layout.columns + layout.x[node]);
      const c = missing[node] ? none : paint(values[node]);
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
    const row = table.insertRow(), button = element("button", shape.name(channel.node) + " " + route_text([channel.leg]));
    button.onclick = () => choose(0, channel.node);
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
    const illegal = messages.illegal.has(m);
    if (messages.step[m] >= state.time) row.className = "later";
    else if (illegal) row.className = "illegal";
    const what = count > 0 && messages.registers && !illegal ? " (" + T.effect_text(messages.registers[m], messages.releases[m]) + ")" : "";
    const blocks = count === 0 ? (wants === "nodes" ? "none" : "none: control") : (ranges && !(illegal && count > 1) ? T.blocks_text(data, shape, ranges, messages.source[m], 4) : counted(count, "block")) + what;
    [T.grouped(by_step.step[messages.step[m]]), shape.name(other[m]), route_text(messages.path(m)), blocks, T.grouped(messages.bytes[m])]
      .forEach((text, i) => row.append(element("td", text, i === 0 || i === 4 ? "number" : "")));
  }
  box.append(table);
  if (list.length > most) box.append(element("p", "and " + T.grouped(list.length - most) + " more", "soft"));
  if (list.length === 0) box.append(element("p", "nothing", "soft"));
  return box;
}

// What stands there while no node is chosen. Not in each step: the browser would lay out the page anew.
function show_no_node() {
  $("node_title").textContent = "Node";
  $("node").className = "soft";
  $("node").textContent = "Click a node to see " + (whole ? "what it heard, holds and sent." : "when it first heard.");
}
function show_node() {
  if (state.node < 0) return;
  const node = state.node, box = $("node"), heard = messages.heard_by(node), sent = messages.sent_by(node);
  const top = [...box.querySelectorAll(".scroll")].map(e => e.scrollTop);
  box.className = "";
  box.replaceChildren();
  $("node_title").textContent = "Node " + shape.name(node) + (shape.mapped ? "" : T.rank_text(shape, node)) + (sources.size < shape.nodes && sources.has(node) ? ", " + T.source_word(data.collective) : "");
  if (!whole) {
    const first = data.map.first[node];
    box.append(element("p", first < 0 ? "It got no data from others." : "First data: step " + T.grouped(by_step.step[first]) + "."));
    return;
  }
  const wanted = data.wanted[node];
  const has = T.grouped(clock.held[node]) + " of ";
  box.append(element("p", wants === "nodes"          ? "Has heard of " + has + counted(wanted, "node") + "."
                          : wants === "contributors" ? (wanted > 0 ? "Has had " + has + "the " + counted(wanted, "contribution") + " that it wants." : "It wants no result.")
                          : wanted > 0               ? "Holds " + has + "the " + counted(wanted, "block") + " that it is to hold."
                                                     : "It is to hold no blocks."));
  const before = heard.filter(m => messages.step[m] < state.time);
  if (data.each.ranges && wants === "blocks") {
    const ranges = T.first_blocks(data, shape, node);
    for (const m of before) for (const range of messages.ranges(m)) ranges.push(range);
    box.append(element("p", "Has had: " + T.blocks_text(data, shape, T.union(ranges), node, 12) + "."));
  }
  const first = heard.find(m => wants === "nodes" || messages.block_count[m] > 0);
  if (first !== undefined)
    box.append(element("p", (wants === "nodes" ? "First message: step " : "First data: step ") + T.grouped(by_step.step[messages.step[first]]) + " from " + shape.name(messages.source[first]) + " by " + route_text(messages.path(first)) + "."));
  box.append(element("h2", "Heard (" + T.grouped(before.length) + " of " + T.grouped(heard.length) + " messages so far)"), message_table(heard, messages.source, "from"));
  box.append(element("h2", "Sent (" + T.grouped(sent.filter(m => messages.step[m] < state.time).length) + " of " + T.grouped(sent.length) + " so far)"), message_table(sent, messages.destination, "to"));
  [...box.querySelectorAll(".scroll")].forEach((e, i) => { e.scrollTop = top[i] || 0; });
}

function draw_strip() {
  const canvas = $("strip"), width = Math.max(100, canvas.clientWidth), p = palette();
  const g = prepared(canvas, width, 84);
  canvas.style.width = "";
  const top = phases.length > 0 && !two ? 16 : 2, middle = two ? 42 : 52, bottom = 82;
  // Time 0 is before the first step: it has a place of its own, to the left of the bars.
  const slot = (width - strip_left) / (last_time + 1), start = strip_left + slot;
  if (phases.length > 0 && !two) {
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
  const bars = (values, paint, from, height, sign, run) => {
    const columns = T.bars_of(values, width - start), w = (width - start) / columns.length;
    let most = 0;
    for (const value of columns) most = Math.max(most, value);
    columns.forEach((value, i) => {
      const h = most > 0 ? value / most * height : 0;
      g.fillStyle = i + 1 === columns.length && broke_off(run, values.length) ? p.dead : paint;
      g.fillRect(start + i * w, sign > 0 ? from - h : from, w > 3 ? w - 1 : w, h);
    });
  };
  // Of two runs the bytes of each: the bars of the second hang from the middle.
  const bytes = r => moments.slice(1).map(({times, busy}) => (busy[r] ? runs[r].by_step.bytes[times[r] - 1] : 0));
  bars(two ? bytes(0) : by_step.bytes, p.route, middle, middle - top, 1, runs[0]);
  bars(two ? bytes(1) : by_step.messages, p.control, middle + 1, bottom - middle - 1, -1, runs[two ? 1 : 0]);
  g.fillStyle = p.ink;
  g.font = "11px system-ui, sans-serif";
  g.fillText(two ? "first" : "bytes", 2, middle - 4);
  g.fillText(two ? "second" : "messages", 2, middle + 12);
  g.strokeStyle = p.ink;
  g.lineWidth = 2;
  g.strokeRect(Math.min(width - 3, strip_left + state.time * slot) + 1, 1, Math.max(1, slot - 2), 82);
}

function where_text() {
  if (state.time === 0) return "before the first step; " + (two ? counted(last_time, "moment") : counted(last_time, "step") + " with messages");
  const i = state.time - 1, phase = by_step.phase[i];
  const ends = data.together ? data.together.ends_s : [], end = ends[moments[state.time].at];
  if (two) return ($("by_time").checked ? T.seconds_text(moments[state.time].at) + " of model time" : "step " + T.grouped(moments[state.time].at)) + " (" + T.grouped(state.time) + " of " + T.grouped(last_time) + ")" + (end === undefined ? "" : "; model time " + T.seconds_text(end));
  const {failure} = data;
  if (failure && state.time === failure.time && failure.nodes.length > 0) {
    const illegal = failure.messages.length, broken = failure.nodes.length;
    if (!failure.illegal) return "after step " + T.grouped(by_step.step[i]) + ": " + (broken === 1 ? "node " + shape.name(failure.nodes[0]) + " lacks" : counted(broken, "node") + " lack") + " some of what " + (broken === 1 ? "it is" : "they are") + " to have";
    // Of a run's violations the first thousand name their nodes and messages; a trace has one.
    const {violations} = failure, by = illegal > 0 ? counted(illegal, "message") : "", at = " at " + (broken === 1 ? "node " + shape.name(failure.nodes[0]) : counted(broken, "node"));
    return "step " + T.grouped(by_step.step[i]) + ": " + (violations > 1000 ? counted(violations, "violation") : violations > 1 ? counted(violations, "violation") + (by && ", by " + by) + at
           : (by ? by + (illegal === 1 ? " breaks" : " break") + " a rule" : "a rule is broken") + at) + (violations ? "; the step is not carried out" : "");
  }
  return "step " + T.grouped(by_step.step[i]) + " (" + T.grouped(state.time) + " of " + T.grouped(last_time) + " with messages): " +
         counted(by_step.messages[i], "message") + ", " + counted(by_step.hops[i], "hop") + ", " + bytes_text(by_step.bytes[i]) +
         (phase >= 0 ? ", " + data.phases[phase] : "") + (model_times ? "; model time " + T.seconds_text(model_times[i]) : "");
}

function draw_all() {
  // First what asks the browser for sizes, then what changes them.
  if (drawn) draw_pictures();
  draw_strip();
  if (drawn && !two) {
    draw_loads();
    show_node();
  }
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
