"use strict";
// What can be computed without a page: shapes, loads, time, words.
const Torus = (() => {

const grouped = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
const modulo = (x, n) => ((x % n) + n) % n;

// The shape: coordinates of ranks (row-major, the last dimension fastest), neighbours, channels.
function shape_of(data) {
  const extents = data.extents, wiring = data.wiring, k = extents.length;
  const stride = new Array(k).fill(1);
  for (let d = k - 2; d >= 0; --d) stride[d] = stride[d + 1] * extents[d + 1];
  const longest = Math.max(...extents);
  const coordinate = (node, d) => Math.floor(node / stride[d]) % extents[d];
  // The groups: lists of nodes by rank, by which blocks go; all nodes are one where the trace has none. Where ranks are mapped, a node is
  // named by its rank too.
  const {ranks} = data, mapped = Boolean(ranks) && !data.groups, groups = [];
  const group_of = node => (data.groups ? data.groups[node] : 0), rank_of = node => (ranks ? ranks[node] : node);
  for (let node = 0; node < data.nodes; ++node) if (group_of(node) >= 0) (groups[group_of(node)] = groups[group_of(node)] || [])[rank_of(node)] = node;
  const name = node => "(" + extents.map((_, d) => coordinate(node, d)).join(",") + ")" + (mapped ? ", rank " + ranks[node] : "");
  // -1: there is no such link.
  function neighbour(node, d, hops) {
    const n = extents[d], at = coordinate(node, d);
    let to = at + hops;
    if (to < 0 || to >= n) {
      if (wiring[d] === "line") return -1;
      const over = Math.floor(to / n);
      to = modulo(to, n);
      // Twisted: over the end of a short dimension every long coordinate changes by half its extent.
      if (data.twisted && n < longest && over % 2 !== 0)
        extents.forEach((e, l) => { if (e === longest) node += (coordinate(node, l) < n ? n : -n) * stride[l]; });
    }
    return node + (to - at) * stride[d];
  }
  // Channels of a node by slot: dimension 0 (-, +), dimension 1 (-, +), ..; of a complete dimension its offsets 1, 2, .. In this order
  // `torus run --steps` names the first of equally full channels.
  const first_slot = [];
  let slots = 0;
  // A map of loads for each dimension and direction; a complete dimension has one.
  const maps = [];
  for (let d = 0; d < k; ++d) {
    first_slot.push(slots);
    const complete = wiring[d] === "complete";
    slots += complete ? Math.max(extents[d] - 1, 0) : 2;
    if (extents[d] > 1) {
      for (const hop of complete ? [0] : [1, -1]) maps.push({dimension: d, hop});
    }
  }
  // Channels that carry nothing, and how many times as long a byte takes on slow ones.
  const key = (node, d, hop) => node * slots + slot(d, hop), dead = new Set(), slow = new Map(), dead_nodes = new Set(data.dead_nodes);
  const both = ([node, d, hop], f) => {
    f(key(node, d, hop));
    f(key(neighbour(node, d, hop), d, wiring[d] === "complete" ? extents[d] - hop : -hop));
  };
  const map_of = (d, hop) => maps.findIndex(m => m.dimension === d && (m.hop === 0 || m.hop === hop));
  const slot = (d, hop) => first_slot[d] + (wiring[d] === "complete" ? hop - 1 : hop > 0 ? 1 : 0);
  // The dimension and the hop of a slot.
  function channel_at(at) {
    let d = k - 1;
    while (first_slot[d] > at) --d;
    return [d, wiring[d] === "complete" ? at - first_slot[d] + 1 : at === first_slot[d] ? -1 : 1];
  }
  for (const link of data.dead_links || []) both(link, channel => dead.add(channel));
  for (const link of data.slow_links || []) both(link, channel => slow.set(channel, link[3]));
  const is_dead = (node, d, hop) => dead.has(key(node, d, hop)) || (dead_nodes.size > 0 && (dead_nodes.has(node) || dead_nodes.has(neighbour(node, d, hop))));
  const slowness = (node, d, hop) => slow.get(key(node, d, hop)) || 1;
  // A hop over the end of a short dimension that changes the long coordinates too.
  const twists = d => data.twisted && extents[d] < longest;
  return {extents, wiring, k, stride, nodes: data.nodes, coordinate, name, groups, group_of, rank_of, mapped, neighbour, slots, slot, maps, map_of, channel_at, dead_nodes, is_dead, slowness, twists,
          faulty: dead_nodes.size + dead.size + slow.size > 0, any_slow: slow.size > 0, any_dead_link: dead.size > 0};
}

// ", rank 3" or ", group 2, rank 3".
const rank_text = (shape, node) => (shape.group_of(node) < 0 ? ", in no group" : (shape.groups.length > 1 ? ", group " + shape.group_of(node) : "") + ", rank " + grouped(shape.rank_of(node)));
const signed = n => (n > 0 ? "+" : "") + n;
// Ten dimensions of two nodes are a hypercube; as rings, with two links for each pair.
const shape_text = data => (data.extents.length > 2 && data.extents.every(n => n === 2)
  ? "hypercube of " + data.extents.length + " dimensions" + (data.wiring.includes("ring") ? " (" + data.shape + ", with double links)" : "") : data.shape);

// Calls f(node, dimension, hop, next) for each channel of a path, until it leaves the machine.
function each_channel(shape, source, path, f) {
  let at = source;
  for (const [d, hops] of path) {
    const n = shape.extents[d], complete = shape.wiring[d] === "complete";
    if (hops === 0 || n === 1 || (complete && modulo(hops, n) === 0)) continue;
    const hop = complete ? modulo(hops, n) : Math.sign(hops);
    const count = complete ? 1 : Math.abs(hops);
    for (let i = 0; i < count; ++i) {
      const next = shape.neighbour(at, d, hop);
      if (next < 0) return;
      f(at, d, hop, next);
      at = next;
    }
  }
}

// What nodes want: in reductions the contributors of their segments, in a barrier to hear of all nodes, else blocks.
const reductions = ["reduce", "allreduce", "reduce-scatter", "scan"];
const wants_of = collective => (reductions.includes(collective) ? "contributors" : collective === "barrier" ? "nodes" : "blocks");
// The colours of nodes in words: of none, of all, and where these need more words, what is counted.
function legend_of(collective) {
  const wants = wants_of(collective);
  if (wants === "blocks") return {none: "holds 0", all: "all of its blocks", meaning: ""};
  if (wants === "nodes") return {none: "has heard of 0", all: "all nodes", meaning: "The colour is the share of all nodes that a node has heard of, itself included."};
  const what = {reduce: "of all segments, which the root alone wants", allreduce: "of all segments", "reduce-scatter": "of the segments that the node owns",
                scan: "of all segments, from the nodes up to itself"}[collective];
  return {none: "has 0", all: "all contributors", meaning: "The colour is the share of the contributors " + what + ": the most that the node has had of each segment so far."};
}
// The node of `sources` in words.
const source_word = collective => (collective === "reduce" || collective === "gather" ? "root" : "source");

// The messages, by number, and where those of a step and of a node are; none where the page leaves them out.
function messages_of(data, shape) {
  const each = data.each || {source: [], destination: [], bytes: [], block_count: [], gained: [], legs: [], paths: []}, count = each.source.length, steps = data.by_step.step.length;
  const first = new Int32Array(steps + 1);  // of each step
  for (let s = 0; s < steps; ++s) first[s + 1] = first[s] + (data.each ? data.by_step.messages[s] : 0);
  const step = new Int32Array(count);
  for (let s = 0; s < steps; ++s) step.fill(s, first[s], first[s + 1]);
  const offsets = lengths => {
    const list = new Int32Array(lengths.length + 1);
    for (let i = 0; i < lengths.length; ++i) list[i + 1] = list[i] + lengths[i];
    return list;
  };
  const first_leg = offsets(each.legs), first_range = each.ranges ? offsets(each.ranges) : null;
  const path = m => {
    const legs = [];
    for (let i = first_leg[m]; i < first_leg[m + 1]; ++i) legs.push([each.paths[2 * i], each.paths[2 * i + 1]]);
    return legs;
  };
  // [first, count] of consecutive blocks; null if they are not named.
  const ranges = m => {
    if (!first_range) return null;
    const list = [];
    for (let i = first_range[m]; i < first_range[m + 1]; ++i) list.push([each.blocks[2 * i], each.blocks[2 * i + 1]]);
    return list;
  };
  const by_node = nodes => {
    const start = new Int32Array(shape.nodes + 1), list = new Int32Array(count);
    for (let m = 0; m < count; ++m) ++start[nodes[m] + 1];
    for (let i = 0; i < shape.nodes; ++i) start[i + 1] += start[i];
    const next = start.slice();
    for (let m = 0; m < count; ++m) list[next[nodes[m]]++] = m;
    return node => list.subarray(start[node], start[node + 1]);
  };
  // Those that break a rule. A run does not send them, and a trace has.
  const illegal = new Set(data.failure ? data.failure.messages : []), refused = data.failure && data.failure.command ? illegal : new Set();
  return {count, first, step, path, ranges, illegal, refused, source: each.source, destination: each.destination, bytes: each.bytes,
          block_count: each.block_count, gained: each.gained, registers: each.registers, releases: each.releases, sent_by: by_node(each.source), heard_by: by_node(each.destination)};
}

// What each node has of what it wants after `time` busy steps. Goes forwards and backwards by the steps between.
function clock_of(data, messages) {
  const held = Float64Array.from(data.held_first);
  let time = 0;
  function go(to) {
    for (; time < to; ++time)
      for (let m = messages.first[time]; m < messages.first[time + 1]; ++m) held[messages.destination[m]] += messages.gained[m];
    for (; time > to; --time)
      for (let m = messages.first[time - 1]; m < messages.first[time]; ++m) held[messages.destination[m]] -= messages.gained[m];
  }
  // -1: it wants nothing.
  const share = node => (data.wanted[node] > 0 ? held[node] / data.wanted[node] : -1);
  return {held, go, share};
}

// Where the messages are left out: a node's share is how late it first got data, of the latest of all, and 0 before that.
function clock_of_map({map, by_step}) {
  const last = Math.min(by_step.step.length - 1, map.first.reduce((a, b) => Math.max(a, b)));
  let time = 0;
  return {last, go: to => { time = to; }, share: node => (map.first[node] < 0 ? -1 : map.first[node] < time ? Math.min(1, (map.first[node] + 1) / (last + 1)) : 0)};
}

// The bytes that messages first..last-1 put on the channels.
function loads_of(shape, messages, first, last, keep) {
  const small = shape.nodes * shape.slots <= 4e6;
  const table = small ? new Float64Array(shape.nodes * shape.slots) : new Map();
  const touched = [];
  for (let m = first; m < last; ++m) {
    if (messages.refused.has(m)) continue;
    const bytes = messages.bytes[m];
    each_channel(shape, messages.source[m], messages.path(m), (node, d, hop) => {
      const channel = node * shape.slots + shape.slot(d, hop);
      const before = small ? table[channel] : table.get(channel) || 0;
      if (small) {
        if (before === 0) touched.push(channel);
        table[channel] = before + bytes;
      } else {
        table.set(channel, before + bytes);
      }
    });
  }
  const used = small ? Int32Array.from(new Set(touched)).sort() : Float64Array.from(table.keys()).sort();
  return loads_of_channels(shape, used, small ? channel => table[channel] : channel => table.get(channel), keep);
}
// What channels carry: by map and node, the busiest channels, and how many carry how much. `used`: those that may carry anything.
function loads_of_channels(shape, used, load, keep) {
  const by_map = shape.maps.map(() => new Float64Array(shape.nodes)), busiest = [];
  const map_of_slot = Array.from({length: shape.slots}, (_, slot) => shape.map_of(...shape.channel_at(slot)));
  const offer = (channel, bytes) => {
    if (bytes === 0 || (busiest.length === keep && bytes <= busiest[keep - 1].bytes)) return;
    let at = busiest.length;
    while (at > 0 && busiest[at - 1].bytes < bytes) --at;
    busiest.splice(at, 0, {channel, bytes, node: Math.floor(channel / shape.slots)});
    if (busiest.length > keep) busiest.pop();
  };
  for (const channel of used) {
    offer(channel, load(channel));
    by_map[map_of_slot[channel % shape.slots]][Math.floor(channel / shape.slots)] += load(channel);
  }
  const histogram = new Array(10).fill(0);  // channels with data in ten classes, up to the bytes of the fullest
  for (const channel of used) {
    if (load(channel) > 0) ++histogram[Math.min(9, Math.ceil(10 * load(channel) / busiest[0].bytes) - 1)];
  }
  for (const b of busiest) b.leg = shape.channel_at(b.channel % shape.slots);
  let most = 0;
  for (const map of by_map) for (const bytes of map) if (bytes > most) most = bytes;
  return {by_map, busiest, histogram, most};
}

// Sorted, without overlaps.
function union(ranges) {
  const sorted = ranges.filter(r => r[1] > 0).sort((a, b) => a[0] - b[0]);
  const list = [];
  for (const [first, count] of sorted) {
    const last = list[list.length - 1];
    if (last && first <= last[0] + last[1]) last[1] = Math.max(last[1], first + count - last[0]);
    else list.push([first, count]);
  }
  return list;
}

// The blocks that a node holds before the first step.
function first_blocks(data, shape, node) {
  const c = data.collective, group = shape.groups[shape.group_of(node)], rank = shape.rank_of(node), own = [[rank * data.segments, data.segments]];
  if (data.dead_nodes.includes(node) || !group) return [];
  if (c === "total-exchange") return [[rank * group.length, group.length]];
  if (c === "scatter") return data.sources.includes(node) ? [[0, group.length * data.segments]] : [];
  if (c === "gather" || c === "allgather") return own;
  return data.sources.includes(node) ? own : [];
}

// Model seconds up to the end of each step with messages; null where the trace does not say what they take. Idle steps take a start-up too.
// Of one of several collectives at once: null, since its steps are those of all (together.ends_s).
function model_times(data) {
  const cost = data.costs_s, steps = data.by_step;
  if (data.together || !cost || !steps.fullest || (cost.combine && !steps.combined)) return null;
  let busy = 0;
  return steps.fullest.map((bytes, i) => {
    busy += (steps.channel_time_s ? steps.channel_time_s[i] : bytes * cost.byte) + steps.longest_route[i] * cost.hop + (cost.combine ? steps.combined[i] * cost.combine : 0);
    return busy + (steps.step[i] + 1) * cost.start_up;
  });
}
// What a run takes, of several at once from its first step to its last, and what it would take alone; empty where that is not known.
function model_time_text({together}, times) {
  if (!together) return times && times.length > 0 ? seconds_text(times[times.length - 1]) : "";
  const beside = seconds_text(together.span_s), alone = seconds_text(together.alone_s);
  return beside + (beside === alone ? "" : " (alone " + alone + ")");
}
function seconds_text(seconds) {
  for (const [unit, size] of [["ns", 1e-9], ["us", 1e-6], ["ms", 1e-3]]) if (seconds < 999.95 * size) return Number((seconds / size).toPrecision(4)) + " " + unit;
  return Number(seconds.toPrecision(4)) + " s";
}

const range_text = (first, count) => (count === 1 ? grouped(first) : grouped(first) + " to " + grouped(first + count - 1));

// Blocks in words of the collective, as a node of their group names them; at most `most` parts.
function blocks_text(data, shape, ranges, node, most) {
  const parts = [], group = shape.groups[shape.group_of(node)] || [], name_of_rank = rank => (group[rank] === undefined ? "no node" : shape.name(group[rank]));
  let more = 0;
  const add = text => { if (parts.length < most) parts.push(text); else ++more; };
  const replicated = data.collective === "broadcast" || data.collective === "multinode-broadcast";
  const exchange = data.collective === "total-exchange", owners = data.collective === "reduce-scatter";
  if (reductions.includes(data.collective)) {
    // Register 0 goes without saying. The segments of a reduce-scatter are pieces of their owners.
    const all = owners ? group.length * data.segments : data.segments;
    for (const [first, count] of ranges) {
      for (let at = first, left = count; left > 0;) {
        const segment = at % all, register = Math.floor(at / all), unit = owners ? data.segments : all;
        const in_unit = segment % unit, take = Math.min(left, unit - in_unit);
        if (parts.length >= most) { more += Math.ceil((in_unit + left) / unit); break; }
        const whole = take === unit, text = whole && !owners ? "all" : whole ? "" : (owners ? "piece" : "segment") + (take > 1 ? "s " : " ") + range_text(in_unit, take);
        add(((owners ? name_of_rank(Math.floor(segment / unit)) + " " : "") + text).trim() + (register > 0 ? " of register " + register : ""));
        at += take;
        left -= take;
      }
    }
    if (more > 0) parts.push("and " + grouped(more) + " more");
    return parts.join("; ") || "none";
  }
  const unit = replicated ? data.segments : exchange ? group.length : 0;
  const one_source = data.collective === "broadcast";
  for (const [first, count] of ranges) {
    if (unit === 0) { add(range_text(first, count)); continue; }
    for (let at = first, left = count; left > 0;) {
      const in_unit = at % unit, take = Math.min(left, unit - in_unit), of = name_of_rank(Math.floor(at / unit));
      if (parts.length >= most) { more += Math.ceil((in_unit + left) / unit); break; }
      if (exchange) add(of + " to " + (take === unit ? "all" : take === 1 ? name_of_rank(in_unit) : (data.ranks ? "ranks " : "nodes ") + range_text(in_unit, take)));
      else add((one_source ? "" : of + " ") + (take === unit ? "all" : "segment" + (take > 1 ? "s " : " ") + range_text(in_unit, take)));
      at += take;
      left -= take;
    }
  }
  if (more > 0) parts.push("and " + grouped(more) + " more");
  return parts.join("; ") || "none";
}

const ramp = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
// The colour of a share from 0 to 1, from dark blue to yellow: it grows lighter all the way, so that it needs no sight of hues.
function colour(share) {
  const at = Math.max(0, Math.min(1, share)) * (ramp.length - 1), i = Math.min(Math.floor(at), ramp.length - 2), t = at - i;
  return ramp[i].map((c, j) => Math.round(c + (ramp[i + 1][j] - c) * t));
}

// "rows" or "columns" of two dimensions, "axis:0,2" of more, as --groups has them; of others how many there are.
function groups_name({data, shape}) {
  const {groups, coordinate, k} = shape, dimensions = Array.from({length: k}, (_, d) => d);
  if (!data.groups) return "all nodes";
  const alike = (group, d) => group.every(node => coordinate(node, d) === coordinate(group[0], d)), along = dimensions.filter(d => !alike(groups[0], d));
  const nodes = along.reduce((product, d) => product * shape.extents[d], 1);
  if (along.length === 0 || !groups.every(group => group.length === nodes && dimensions.every(d => along.includes(d) || alike(group, d)))) return grouped(groups.length) + " groups";
  const name = along.length > 1 ? "axis:" + along.join() : k > 2 ? "axis:" + along[0] : along[0] === k - 1 ? "rows" : "columns";
  return groups.length * nodes < shape.nodes ? grouped(groups.length) + " of the " + name : name;
}
// What two runs are called on their page: the algorithm, after what else they differ in.
function names_of(runs) {
  const differ = text => text(runs[0]) !== text(runs[1]), of_collective = ({data}) => data.collective;
  const names = runs.map(run => (differ(groups_name) ? groups_name(run) + ": " : "") + (differ(of_collective) ? run.data.collective + " by " : "") + run.data.algorithm);
  return names[0] === names[1] ? ["first: " + names[0], "second: " + names[1]] : names;
}

// In which parts of machine and request two runs differ, in words.
function differences_text(runs) {
  const list = (nodes, what, all) => (nodes.length === all ? "all nodes" : nodes.length === 0 ? "none" : nodes.length > 4 ? grouped(nodes.length) + " " + what : nodes.join(" "));
  const links = kind => ({data, shape}) => list((data[kind] || []).map(([node, d, hop, factor]) => shape.name(node) + " " + d + ":" + signed(hop) + (factor ? " x" + factor : "")), kind.replace("_", " "));
  const seconds = part => ({data}) => (data.costs_s ? seconds_text(data.costs_s[part] || 0) : "unknown");
  const of_data = key => ({data}) => String(data[key]);
  // Of each part its name, its text, and what else tells whether it differs.
  const parts = {
    Machine: [["shape", ({data}) => shape_text(data)], ["ports", of_data("ports")], ["switching", of_data("switching")], ["contention", of_data("contention")],
              ["dead nodes", ({data, shape}) => list(data.dead_nodes.map(shape.name), "dead nodes"), of_data("dead_nodes")], ["dead links", links("dead_links"), of_data("dead_links")],
              ["slow links", links("slow_links"), of_data("slow_links")],
              ["T_s", seconds("start_up")], ["T_c", seconds("byte")], ["T_h", seconds("hop")], ["T_g", seconds("combine")]],
    Request: [["collective", of_data("collective")], ["sources", ({data, shape, sources}) => (runs.some(run => run.data.source_count === undefined) ? "" : list([...sources].sort((a, b) => a - b).map(shape.name), "sources", data.nodes))],
              ["groups", groups_name, ({data}) => data.groups && data.groups + " " + data.ranks], ["ranks", ({data}) => (data.ranks && !data.groups ? "mapped" : "as the nodes"), ({data}) => (data.groups ? "" : String(data.ranks || ""))],
              ["blocks", ({data}) => grouped(data.block_bytes) + " B"], ["segments", ({data}) => grouped(data.segments)], ["reduction", ({data}) => data.reduction || "none"]]};
  const texts = Object.entries(parts).map(([what, all]) => {
    const differ = all.filter(([, of, key = of]) => key(runs[0]) !== key(runs[1])).map(([name, of]) => [name, of(runs[0]), of(runs[1])]);
    return what + ": " + (differ.map(([name, a, b]) => (a === b ? "other " + name : name + " " + a + " and " + b)).join("; ") || "the same") + ".";
  });
  return texts.join(" ");
}

// The bars of a strip of `pixels` columns: the max of the steps that share a column.
function bars_of(values, pixels) {
  const columns = Math.max(1, Math.min(values.length, Math.floor(pixels)));
  const bars = new Float64Array(columns);
  for (let i = 0; i < values.length; ++i) {
    const at = Math.floor(i * columns / values.length);
    if (values[i] > bars[at]) bars[at] = values[i];
  }
  return bars;
}

// The moments of one clock for some runs: when, how many busy steps each has begun by then, and whether it is in the last of them. One run
// has a moment for each busy step. Two share the numbers of their steps or, by model time, the ends of them.
function moments_of(runs, by_time) {
  const ends = runs.map(run => (by_time ? run.model_times : run.by_step.step)), all = runs.length === 1 ? ends[0] : Array.from(new Set(ends.flat())).sort((a, b) => a - b);
  const moments = [{at: null, times: runs.map(() => 0), busy: runs.map(() => false)}], begun = runs.map(() => 0);
  for (const at of all) {
    // By model time a step is on its way until its end: the one after the last that has ended before.
    runs.forEach((_, r) => { while (begun[r] < ends[r].length && (by_time ? begun[r] === 0 || ends[r][begun[r] - 1] < at : ends[r][begun[r]] <= at)) ++begun[r]; });
    moments.push({at, times: begun.slice(), busy: runs.map((_, r) => begun[r] > 0 && (by_time ? at <= ends[r][begun[r] - 1] : ends[r][begun[r] - 1] === at))});
  }
  return moments;
}

// What the blocks of a reduction's message do, in words.
function effect_text(registers, releases) {
  const into = [];
  for (let r = 0; r < 8; ++r) if (registers >> r & 1) into.push(r);
  const at = into.length === 0 ? "replaces" : registers === 1 ? "combined" : "combined into register" + (into.length > 1 ? "s " : " ") + into.join(" and ");
  return at + (releases ? ", given away" : "");
}

// Runs of steps of one phase: [first, end, phase].
function phase_runs(phase) {
  const runs = [];
  for (let i = 0; i < phase.length; ++i) {
    const last = runs[runs.length - 1];
    if (last && last[2] === phase[i]) last[1] = i + 1;
    else runs.push([i, i + 1, phase[i]]);
  }
  return runs.filter(run => run[2] >= 0);
}

return {grouped, rank_text, wants_of, legend_of, source_word, effect_text, shape_of, shape_text, signed, each_channel, messages_of, clock_of, clock_of_map, loads_of, loads_of_channels, differences_text, union, first_blocks, blocks_text,
        colour, ramp, bars_of, moments_of, phase_runs, model_times, model_time_text, names_of, seconds_text};
})();
if (typeof module !== "undefined") module.exports = Torus;
