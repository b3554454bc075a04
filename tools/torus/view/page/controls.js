"use strict";
// What the user can do: play, step, choose a node, lay out the dimensions.
function go(time) {
  state.time = Math.max(0, Math.min(last_time, time));
  if (whole) clock.go(state.time);
  redraw();
}
function play(on) {
  clearInterval(state.playing);
  state.playing = 0;
  if (on && last_time > 0) {
    if (state.time === last_time) go(0);
    state.playing = setInterval(() => {
      if (state.time === last_time) play(false);
      else go(state.time + 1);
    }, 1000 / Number($("speed").value));
  }
  $("play").textContent = state.playing ? "pause" : "play";
}
function choose(node) {
  state.node = node;
  redraw();
}

function set_layout() {
  const axis = id => ($(id).value === "" ? -1 : Number($(id).value));
  layout = T.layout_of(shape, axis("across"), axis("down"));
  $("rest").textContent = layout.rest.length > 0 ? "each small grid: one value of dimension" + (layout.rest.length > 1 ? "s " : " ") + layout.rest.join(", ")
                          : layout.folded ? "the row is folded: each line goes on in the next" : "";
  redraw();
}
function make_axes() {
  for (const id of ["across", "down"]) {
    for (let d = 0; d < shape.k; ++d) {
      const option = element("option", "dimension " + d + " (" + shape.extents[d] + ", " + shape.wiring[d] + ")");
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
  $("axes").hidden = shape.k < 2;
}

// What the collective is asked for: a reduction has contributions of all nodes, and a barrier has no blocks.
function asked_text() {
  if (wants === "nodes") return "";
  const segments = counted(data.segments, "segment") + (data.collective === "reduce-scatter" ? " a node" : "") + ", blocks of " + bytes_text(data.block_bytes) + "; ";
  if (wants === "contributors") return (data.reduction ? data.reduction + ", " : "") + segments;
  return counted(data.source_count, T.source_word(data.collective)) + ", " + segments;
}

function start() {
  document.title = data.collective + " by " + data.algorithm + " on " + data.shape;
  $("title").textContent = document.title;
  $("facts").textContent =
    T.grouped(data.nodes) + " nodes, " + data.switching + ", " + data.ports + (data.ports === 1 ? " port" : " ports") + ", contention " + data.contention + "; " +
    asked_text() + T.grouped(data.steps) + " steps, " + T.grouped(data.busy_steps) + " of them with messages; " +
    T.grouped(data.messages) + " messages, " + T.grouped(data.hops) + " hops, " + bytes_text(data.bytes);
  const notes = [];
  if (!whole) notes.push("Left out: all " + T.grouped(data.messages) + " messages, since " + data.left_out + ". What follows is the sums of the steps.");
  if (data.busy_steps > last_time) notes.push("Left out: the last " + T.grouped(data.busy_steps - last_time) + " steps with messages. They count in the totals alone.");
  if (whole && !data.each.ranges) notes.push("Left out: which blocks each message carries, since they are too many. The numbers of blocks are there.");
  if (data.messages === 0) notes.push("The run has no messages.");
  $("notice").textContent = notes.join(" ");
  $("notice").hidden = notes.length === 0;

  if (whole) {
    make_axes();
    for (const map of shape.maps) {
      const figure = element("figure");
      figure.append(element("canvas"), element("figcaption", map.text));
      figure.firstChild.setAttribute("role", "img");
      figure.firstChild.setAttribute("aria-label", "bytes on the channels " + map.text + " by sending node");
      $("maps").append(figure);
    }
    const legend = T.legend_of(data.collective);
    $("share_none").textContent = legend.none;
    $("share_all").textContent = legend.all;
    $("share_meaning").textContent = legend.meaning;
    $("share_meaning").hidden = legend.meaning === "";
    $("source_key").textContent = "thick frame: " + T.source_word(data.collective);
    $("source_key").hidden = sources.size === 0 || sources.size === shape.nodes;
    if (legend.meaning) $("torus").setAttribute("aria-label", "The nodes and the routes of this step. " + legend.meaning);
    $("ramp").style.background = "linear-gradient(to right," + T.ramp.map(css).join(",") + ")";
    $("span_step").onchange = $("span_run").onchange = redraw;
    $("torus").onclick = event => {
      const box = $("torus").getBoundingClientRect(), size = box.width / (layout.columns + 2);
      const node = layout.node_at(Math.floor((event.clientX - box.left) / size - 1), Math.floor((event.clientY - box.top) / size - 1));
      if (node >= 0) choose(node);
    };
    set_layout();
  } else {
    $("main").className = "totals";
    $("left").hidden = $("right").hidden = true;
    $("totals").hidden = false;
    const most = 1000, table = $("steps"), head = table.insertRow();
    for (const text of ["step", "messages", "hops", "bytes", "phase"]) head.append(element("th", text, text === "phase" ? "" : "number"));
    for (let i = 0; i < Math.min(most, last_time); ++i) {
      const row = table.insertRow();
      for (const column of ["step", "messages", "hops", "bytes"]) row.append(element("td", T.grouped(by_step[column][i]), "number"));
      row.append(element("td", by_step.phase[i] >= 0 ? data.phases[by_step.phase[i]] : ""));
    }
    if (last_time > most) $("totals").append(element("p", "and " + T.grouped(last_time - most) + " more: the strip below has them all", "soft"));
  }

  const colours = () => {
    const p = palette();
    $("data_swatch").style.borderColor = p.route;
    $("control_swatch").style.borderColor = p.control;
    $("control_swatch").style.borderTopStyle = "dashed";
  };
  colours();
  $("first").onclick = () => go(0);
  $("back").onclick = () => go(state.time - 1);
  $("next").onclick = () => go(state.time + 1);
  $("last").onclick = () => go(last_time);
  $("play").onclick = () => play(!state.playing);
  $("speed").onchange = () => { if (state.playing) play(true); };
  const to_pointer = event => {
    const box = $("strip").getBoundingClientRect();
    go(Math.floor((event.clientX - box.left - strip_left) / (box.width - strip_left) * (last_time + 1)));
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
    const does = {" ": () => play(!state.playing), ArrowRight: () => go(state.time + 1), ArrowLeft: () => go(state.time - 1),
                  Home: () => go(0), End: () => go(last_time)}[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours(); redraw(); });
  addEventListener("beforeprint", () => { state.printing = true; colours(); draw_all(); });
  addEventListener("afterprint", () => { state.printing = false; colours(); redraw(); });
  go(0);
}
start();
