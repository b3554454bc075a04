"use strict";
// What the user can do: play, step, choose a node, lay out the dimensions.
function go(time) {
  state.time = Math.max(0, Math.min(last_time, time));
  runs.forEach((run, r) => { if (run.clock) run.clock.go(moments[state.time].times[r]); });
  redraw();
  note_address();
}
// To do something, with the large button out of the way.
function act(time) {
  $("big_play").hidden = true;
  go(time);
}
function play(on) {
  clearInterval(state.playing);
  state.playing = 0;
  if (on && last_time > 0) {
    if (state.time === last_time) act(0);
    state.playing = setInterval(() => {
      if (state.time === last_time) play(false);
      else go(state.time + 1);
    }, 1000 / Number($("speed").value));
    $("big_play").hidden = true;
  }
  $("play").textContent = state.playing ? "pause" : "play";
  note_address();
}
function choose(run, node) {
  state.run = run;
  state.node = node;
  $("big_play").hidden = true;
  if (node < 0) show_no_node();
  if (node >= 0 && state.routes === "none") state.routes = $("routes").value = "node";
  redraw();
  note_address();
}

// The address says where one is, "#step=3&node=9", so that it can be sent to somebody. While it plays it keeps still: browsers refuse many
// changes.
let noting = 0;
function note_address() {
  clearTimeout(noting);
  if (state.playing) return;
  noting = setTimeout(() => {
    const {at} = moments[state.time], parts = [$("by_time").checked ? "moment=" + state.time : "step=" + (at === null ? "start" : at)];
    if (state.node >= 0) parts.push("node=" + state.node);
    if (state.node >= 0 && state.run > 0) parts.push("run=" + (state.run + 1));
    history.replaceState(null, "", "#" + parts.join("&"));
  }, 100);
}
// Where a page opens: at the first step, where the run has failed, or, of a map, at the end.
function first_look() {
  const failed = runs.findIndex(run => run.data.failure);
  if (failed >= 0) return moments.findIndex(({times}) => times[failed] >= runs[failed].data.failure.time);
  return runs.every(run => run.whole) ? Math.min(1, last_time) : last_time;
}
// Goes to where the address says. If it says nothing: to its first look.
function follow_address() {
  const said = new URLSearchParams(location.hash.slice(1)), step = said.get("step"), node = said.get("node"), run = said.get("run") === "2" && two ? 1 : 0;
  state.run = run;
  state.node = node !== null && drawn && Number(node) >= 0 && Number(node) < runs[run].shape.nodes ? Math.floor(Number(node)) : -1;
  // Who names a place wants to see it.
  if (["step", "moment", "node"].some(part => said.has(part))) $("big_play").hidden = true;
  const after = step === null || step === "start" ? -1 : moments.findIndex(moment => moment.at !== null && moment.at >= Number(step));
  go(said.has("moment") ? Number(said.get("moment")) || 0 : step === "start" ? 0 : step === null ? first_look() : after < 0 ? last_time : after);
}

const axis_text = (shape, d) => "dimension " + d + " (" + shape.extents[d] + ", " + shape.wiring[d] + ")";
function set_layout() {
  const axis = id => ($(id).value === "" ? -1 : Number($(id).value));
  runs.forEach((run, r) => {
    const k = run.shape.k, mine = r === 0 || run.shape.extents.join() === shape.extents.join();
    const layout = T.layout_of(run.shape, mine ? axis("across") : k - 1, mine ? axis("down") : k - 2);
    if (r === 0) slices = layout;
    pictures[r].layout = state.cube ? T.cube_of(run.shape, ...state.cube) : layout;
  });
  $("rest").textContent = state.cube ? "drag the cube to turn it"
                          : slices.rest.length > 0 ? "each small grid: one value of dimension" + (slices.rest.length > 1 ? "s " : " ") + slices.rest.join(", ")
                          : slices.folded ? "the row is folded: each line goes on in the next" : "";
  $("stub_key").hidden = state.cube !== null || slices.rest.length === 0;
  redraw();
}
function make_axes() {
  for (const id of ["across", "down", "only"]) {
    for (let d = 0; d < shape.k; ++d) {
      const option = element("option", id === "only" ? "dimension " + d : axis_text(shape, d));
      option.value = String(d);
      $(id).append(option);
    }
  }
  $("across").value = String(shape.k - 1);
  if (shape.k === 1) {
    $("down").replaceChildren(element("option", "none"));
    $("down").firstChild.value = "";
  } else {
    $("down").value = String(shape.k - 2);
  }
  // Two axes of one dimension: the other one takes what this one had.
  let had = [$("across").value, $("down").value];
  const change = (changed, other, at) => {
    if ($(changed).value === $(other).value) $(other).value = had[at];
    had = [$("across").value, $("down").value];
    set_layout();
  };
  $("across").onchange = () => change("across", "down", 0);
  $("down").onchange = () => change("down", "across", 1);
  $("axes").hidden = $("only_label").hidden = shape.k < 2;
}
// What is drawn, and what of the routes.
function make_options() {
  make_axes();
  const on_change = (id, f) => { $(id).onchange = () => { f($(id)); redraw(); }; };
  on_change("routes", select => { state.routes = select.value; });
  on_change("only", select => { state.only = Number(select.value); });
  on_change("tree", box => { state.tree = box.checked; $("tree_key").hidden = !box.checked; });
  on_change("cube", box => { state.cube = box.checked ? [0.6, 0.45] : null; $("axes").hidden = box.checked || shape.k < 2; set_layout(); });
  on_change("by_step", set_clock);
  on_change("by_time", set_clock);
  $("cube_label").hidden = !runs.every(run => run.shape.k === 3 && run.shape.nodes <= 4096 && run.shape.extents.every(n => n > 1));
  $("tree_label").hidden = data.source_count !== 1 || sources.size === 0 || !whole;
  // Of large machines the nodes are coloured, and routes are there for whom clicks or asks.
  if (runs.some(run => run.shape.nodes > 1024)) state.routes = $("routes").value = "none";
  const bad = runs.some(run => run.shape.any_slow), dead = runs.some(run => run.shape.dead_nodes.size > 0 || run.shape.any_dead_link);
  $("tree_key").hidden = true;
  $("dead_key").hidden = !dead;
  $("slow_key").hidden = !bad;
  $("illegal_key").hidden = runs.every(run => run.messages.illegal.size === 0);
  $("twist_key").hidden = !runs.some(run => run.data.twisted);
  $("control_key").hidden = runs.every(run => run.messages.block_count.every(count => count > 0));
  pictures.forEach((picture, r) => make_pointer(picture, r));
}
// A click takes a node; a cube turns under the pointer.
function make_pointer(picture, r) {
  const {canvas} = picture;
  let from = null, moved = false;
  canvas.onpointerdown = event => {
    from = [event.clientX, event.clientY];
    moved = false;
    if (state.cube) canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = event => {
    if (!state.cube || !from || !(event.buttons & 1)) return;
    const dx = event.clientX - from[0], dy = event.clientY - from[1];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true;
    from = [event.clientX, event.clientY];
    state.cube = [state.cube[0] + dx * 0.01, Math.max(-1.57, Math.min(1.57, state.cube[1] + dy * 0.01))];
    $("big_play").hidden = true;
    set_layout();
  };
  canvas.onclick = event => {
    if (moved) return;
    const box = canvas.getBoundingClientRect(), node = picture.node_at(event.clientX - box.left, event.clientY - box.top);
    if (node >= 0) choose(r, node);
  };
}
function set_clock() {
  const before = moments[state.time];
  moments = T.moments_of(runs, $("by_time").checked);
  last_time = moments.length - 1;
  const same = moments.findIndex(moment => moment.times[0] >= before.times[0]);
  go(same < 0 ? last_time : same);
}

// What the collective is asked for: a reduction has contributions of all nodes, and a barrier has no blocks.
function asked_text() {
  if (wants === "nodes") return "";
  const segments = counted(data.segments, "segment") + (data.collective === "reduce-scatter" ? " a node" : "") + ", blocks of " + bytes_text(data.block_bytes) + "; ";
  if (wants === "contributors") return (data.reduction ? data.reduction + ", " : "") + segments;
  return (data.source_count === undefined ? "" : counted(data.source_count, T.source_word(data.collective)) + (data.groups ? " a group" : "") + ", ") + segments;
}
function machine_text({data, shape}) {
  const parts = [counted(data.nodes, "node"), ...(data.groups ? [groups_text({data, shape})] : []), data.switching, counted(data.ports, "port"), "contention " + data.contention];
  if (data.dead_nodes.length > 0) parts.push(counted(data.dead_nodes.length, "dead node"));
  if (data.dead_links.length > 0) parts.push(counted(data.dead_links.length, "dead link"));
  if (data.slow_links.length > 0) parts.push(counted(data.slow_links.length, "slow link"));
  return parts.join(", ");
}
// "8 groups of 8 nodes"; empty where there is one.
function groups_text({data, shape}) {
  if (!data.groups) return "";
  const sizes = shape.groups.map(group => group.length), least = Math.min(...sizes), most = Math.max(...sizes);
  return counted(sizes.length, "group") + " of " + (least < most ? T.grouped(least) + " to " : "") + counted(most, "node");
}
// The colours of the first groups, of frames and routes: after seven they come again.
function show_groups() {
  const run = runs.find(({data}) => data.groups), p = palette();
  $("groups_key").hidden = !run;
  $("data_key").hidden = !whole || runs.every(({data}) => data.groups);
  if (!run) return;
  $("groups_key").replaceChildren(whole ? "frames and data of groups:" : "frames of groups:");
  for (let group = 0; group < Math.min(7, run.shape.groups.length); ++group) {
    const swatch = element("span", undefined, "swatch");
    swatch.style.borderColor = p.groups[run.data.group_colours[group]];
    $("groups_key").append(" ", swatch, group);
  }
  if (run.shape.groups.length > 7) $("groups_key").append(" and so on");
}
// What came out: the verdict, and the steps against the bound.
function show_verdict() {
  for (const [r, run] of runs.entries()) {
    const {data} = run, takes = T.model_time_text(data, run.model_times), line = element("span"), ok = data.verdict && data.verdict.ok;
    if (two) line.append(names[r] + ": ");
    if (data.verdict) line.append(element("span", ok ? "\u2713 " + data.verdict.text : "\u2717 " + data.verdict.text, ok ? "good" : "bad"));
    else line.append(element("span", "not judged", "soft"));
    const bound = data.bound && data.bound.steps > 0 ? (data.steps === data.bound.steps ? ", the fewest that there can be" : "; no algorithm takes fewer than " + T.grouped(data.bound.steps)) : "";
    if (data.failure && data.failure.command) {
      line.append(element("br"), "repeat it with: ", element("code", data.failure.command));
      $("verdict").append(line);
      continue;
    }
    line.append("; " + counted(data.steps, "step") + bound);
    if (takes) line.append("; model time " + takes);
    if (data.bound) line.title = "bound: " + data.bound.reason;
    $("verdict").append(line, element("br"));
  }
}

function start_pictures() {
  make_options();
  for (const map of shape.maps) {
    const figure = element("figure");
    figure.append(element("canvas"), element("figcaption"));
    figure.firstChild.setAttribute("role", "img");
    figure.firstChild.setAttribute("aria-label", "bytes on the channels of dimension " + map.dimension + ", " + (map.hop === 0 ? "all" : T.signed(map.hop)) + ", by sending node");
    $("maps").append(figure);
  }
  const legend = whole ? T.legend_of(data.collective)
                       : {none: "first data in step " + T.grouped(by_step.step[0]), all: T.grouped(by_step.step[clock.last]), meaning: "The colour is the step in which the node first got data from others, if it has by now. Grey: never."};
  for (const id of ["routes", "only"]) $(id).parentElement.hidden = $(id).parentElement.hidden || !whole;
  $("spans").hidden = !whole;
  show_no_node();
  $("share_none").textContent = legend.none;
  $("share_all").textContent = legend.all;
  $("share_meaning").textContent = legend.meaning;
  $("share_meaning").hidden = legend.meaning === "";
  $("source_key").textContent = "thick frame: " + T.source_word(data.collective);
  $("source_key").hidden = sources.size === 0 || sources.size === shape.nodes;
  if (legend.meaning) $("torus0").setAttribute("aria-label", "The nodes and the routes of this step. " + legend.meaning);
  $("ramp").style.background = "linear-gradient(to right," + T.ramp.map(css).join(",") + ")";
  $("span_step").onchange = $("span_run").onchange = redraw;
  if (two) {
    $("main").className = "two";
    $("right").hidden = true;
    $("clock").hidden = !runs.every(run => run.model_times);
    document.querySelectorAll(".run, .run figcaption").forEach(e => { e.hidden = false; });
    names.forEach((name, r) => { $("name" + r).textContent = name + ":"; });
  }
  set_layout();
}
function start_totals() {
  $("main").className = "totals";
  $("left").hidden = $("right").hidden = true;
  $("totals").hidden = false;
  const most = 1000, table = $("steps"), head = table.insertRow();
  for (const text of ["step", "messages", "hops", "bytes", "phase"]) head.append(element("th", text, text === "phase" ? "" : "number"));
  for (let i = 0; i < Math.min(most, runs[0].last_time); ++i) {
    const row = table.insertRow();
    for (const column of ["step", "messages", "hops", "bytes"]) row.append(element("td", T.grouped(by_step[column][i]), "number"));
    row.append(element("td", by_step.phase[i] >= 0 ? data.phases[by_step.phase[i]] : ""));
  }
  if (runs[0].last_time > most) $("totals").append(element("p", "and " + T.grouped(runs[0].last_time - most) + " more: the strip below has them all", "soft"));
}

function start() {
  const name = ({data, shape}) => data.collective + " by " + data.algorithm + " on " + (T.shape_text(data) === data.shape ? "" : "a ") + T.shape_text(data) +
    (data.groups ? ", in " + counted(shape.groups.length, "group") : "");
  document.title = runs.map(name).join(" and ");
  $("title").textContent = document.title;
  show_verdict();
  $("idea").textContent = data.idea || "";
  $("origin").textContent = data.algorithm_source ? "Source: " + data.algorithm_source : "";
  $("facts").textContent = machine_text(runs[0]) + "; " + asked_text() + counted(data.steps, "step") + ", " + T.grouped(data.busy_steps) + " of them with messages; " +
    counted(data.messages, "message") + ", " + counted(data.hops, "hop") + ", " + bytes_text(data.bytes);
  const notes = [];
  for (const {data, by_step, whole} of runs) {
    if (!whole) notes.push("Left out: all " + T.grouped(data.messages) + " messages, since " + data.left_out + ". What follows is " + (data.map ? "a map of the run, with the step in which each node first got data, and " : "") + "the sums of the steps.");
    if (data.busy_steps > by_step.step.length) notes.push("Left out: the last " + T.grouped(data.busy_steps - by_step.step.length) + " steps with messages. They count in the totals alone.");
    if (whole && !data.each.ranges) notes.push("Left out: which blocks each message carries, since they are too many. The numbers of blocks are there.");
    if (data.messages === 0) notes.push("The run has no messages.");
  }
  $("notice").textContent = notes.join(" ");
  $("notice").hidden = notes.length === 0;
  if (two) $("differences").textContent = T.differences_text(runs);
  $("differences").hidden = !two;
  if (drawn) start_pictures();
  else start_totals();

  const colours = () => {
    const p = palette();
    for (const [name, paint] of [["data", "route"], ["control", "control"], ["illegal", "dead"], ["tree", "tree"], ["slow", "slow"], ["twist", "twist"]])
      $(name + "_swatch").style.borderColor = p[paint];
    if (drawn) show_groups();
    $("control_swatch").style.borderTopStyle = "dashed";
    $("slow_swatch").style.borderTopStyle = "double";
  };
  colours();
  $("first").onclick = () => act(0);
  $("back").onclick = () => act(state.time - 1);
  $("next").onclick = () => act(state.time + 1);
  $("last").onclick = () => act(last_time);
  $("play").onclick = $("big_play").onclick = () => play(!state.playing);
  $("speed").onchange = () => { if (state.playing) play(true); };
  $("full").hidden = !document.fullscreenEnabled;
  $("full").onclick = () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen());
  document.addEventListener("fullscreenchange", () => {
    $("full").textContent = document.fullscreenElement ? "leave full screen" : "full screen";
    redraw();
  });
  const to_pointer = event => {
    const box = $("strip").getBoundingClientRect();
    act(Math.floor((event.clientX - box.left - strip_left) / (box.width - strip_left) * (last_time + 1)));
  };
  $("strip").onpointerdown = event => {
    play(false);
    $("strip").setPointerCapture(event.pointerId);
    to_pointer(event);
  };
  $("strip").onpointermove = event => { if (event.buttons & 1) to_pointer(event); };
  document.addEventListener("keydown", event => {
    const tag = event.target.tagName;
    if (event.ctrlKey || event.altKey || event.metaKey || tag === "SELECT" || tag === "INPUT" || (tag === "BUTTON" && event.key === " ")) return;
    // On a picture, arrows take nodes.
    const at = pictures.findIndex(picture => picture.canvas === event.target), way = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key];
    if (at >= 0 && (way || event.key === "Escape")) {
      event.preventDefault();
      choose(at, way ? pictures[at].node_beside(state.run === at ? state.node : -1, ...way) : -1);
      return;
    }
    const does = {" ": () => play(!state.playing), ArrowRight: () => act(state.time + 1), ArrowLeft: () => act(state.time - 1),
                  Home: () => act(0), End: () => act(last_time), f: () => { if (document.fullscreenEnabled) $("full").onclick(); }}[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  addEventListener("resize", redraw);
  addEventListener("hashchange", follow_address);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours(); redraw(); });
  addEventListener("beforeprint", () => { state.printing = true; colours(); draw_all(); });
  addEventListener("afterprint", () => { state.printing = false; colours(); redraw(); });
  $("big_play").hidden = last_time === 0 || !drawn || Boolean(data.failure);
  follow_address();
}
start();
