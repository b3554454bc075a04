"use strict";
// The picture of a step: the machine, with the routes of messages on it.
class Picture extends Machine {
  // Draws the run after `time` busy steps; `busy`: with the routes of the last of them.
  draw(time, busy, node) {
    const g = prepared(this.canvas, this.width, this.height), p = palette(), fine = g.getTransform(), base = this.drawn_base(p);
    const copy = canvas => {
      g.setTransform(1, 0, 0, 1, 0, 0);
      g.drawImage(canvas, 0, 0);
      g.setTransform(fine);
    };
    copy(base.canvas);
    if (base.nodes && !busy) copy(base.nodes);
    if (state.tree) this.draw_tree(g, p, time);
    if (busy) this.draw_routes(g, p, time, node, () => { if (base.nodes) copy(base.nodes); });
    if (busy || state.tree) copy(base.cores);
    if (this.filled || this.layout.cube) this.draw_marks(g, p);
    this.draw_dead(g, p);
    const {failure} = this.run.data;
    if (failure && time === failure.time && (busy || !failure.illegal)) failure.nodes.forEach(at => this.draw_ring(g, p.dead, at, 0.36));
    if (node >= 0) this.draw_ring(g, p.ink, node, 0.42);
  }
  draw_ring(g, paint, node, size) {
    const ring = Math.max(this.cell * (this.layout.cube ? size * 0.7 : size), 4);
    g.strokeStyle = paint;
    g.lineWidth = Math.max(2, Math.min(5, this.cell * 0.06));
    g.strokeRect(this.x(this.layout.x[node]) - ring, this.y(this.layout.y[node]) - ring, 2 * ring, 2 * ring);
  }

  // Where a route ends: a point of `head` pixels, or where that is too small to show a direction, a square.
  fill_heads(g, all, head) {
    all.forEach((lines, i) => {
      const line = lines[lines.length - 1], b = line[line.length - 1], a = line[line.length - 2], x = this.x(b[0]), y = this.y(b[1]);
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

  // The messages of a step whose routes are shown: those that break a rule always.
  routed(time, node) {
    const {messages} = this.run, list = [], of_node = m => state.routes === "node" && node >= 0 && (messages.source[m] === node || messages.destination[m] === node);
    if (state.routes !== "all" && node < 0 && messages.illegal.size === 0) return list;
    for (let m = messages.first[time - 1]; m < messages.first[time]; ++m)
      if (state.routes === "all" || of_node(m) || messages.illegal.has(m)) list.push(m);
    return list;
  }
  draw_routes(g, p, time, node, over_halos) {
    const {layout, cell} = this, {shape, messages} = this.run, slices = layout.rest.length > 0;
    // Control alone is dashed; data is of the colour of its group; what breaks a rule lies above. Each kind has its lines and its stubs.
    const kind = (paint, dash, thick) => ({paint, dash, thick, lines: [], stubs: []}), control = kind(p.control, [3, 3], 1), illegal = kind(p.dead, [], 1.5);
    const data = new Map(), data_of = paint => data.get(paint) || data.set(paint, kind(paint, [], 1)).get(paint);
    for (const m of this.routed(time, node)) {
      const source = messages.source[m], path = messages.path(m), lines = T.route_lines(shape, layout, source, path, state.only, slices);
      const of = messages.illegal.has(m) ? illegal : messages.block_count[m] > 0 ? data_of(this.paint_of_group(p, source, p.route)) : control;
      if (lines.length > 0) of.lines.push(lines);
      if (slices) for (const stub of T.stubs_of(shape, layout, source, path, state.only)) of.stubs.push(stub);
    }
    const kinds = [control, ...data.values(), illegal], width = Math.max(0.8, Math.min(4, cell * 0.06));
    g.lineJoin = "round";
    // A halo parts a route from what it crosses. It lies under the nodes, which it would cut.
    if (cell >= 5 && kinds.reduce((sum, {lines}) => sum + lines.length, 0) <= 4000) {
      g.strokeStyle = p.paper;
      g.lineWidth = width + 2;
      for (const {lines} of kinds) this.stroke_lines(g, lines);
    }
    over_halos();
    for (const {paint, dash, thick, lines} of kinds) {
      if (lines.length === 0) continue;
      g.strokeStyle = g.fillStyle = paint;
      g.lineWidth = thick * width;
      g.setLineDash(dash);
      this.stroke_lines(g, lines);
      g.setLineDash([]);
      if (cell >= 5) this.fill_heads(g, lines, Math.min(14, cell * (layout.cube ? 0.16 : 0.2)));
    }
    for (const {paint, stubs} of kinds) if (stubs.length > 0) this.draw_stubs(g, p, paint === p.control ? p.route : paint, stubs);
  }
  // A message to another slice leaves its node as a short line towards the upper right, if its dimension counts up, or the lower left; and
  // comes in so. Beside it stands the slice that it goes to or comes from. Stubs that say the same are one.
  draw_stubs(g, p, paint, stubs) {
    const {layout, cell} = this, {shape} = this.run, seen = new Set(), lines = [], texts = new Map();
    const lane = 0.06, near = cell < 5 ? 0 : 0.34, far = 0.62;
    for (const [from, to, d, sign] of stubs) {
      const [tx, ty] = layout.toward(d).map(part => part * sign), ox = -ty * lane, oy = tx * lane;
      for (const [node, other, a, b, side] of [[from, to, near, far, 1], [to, from, -far, -near, -1]]) {
        const said = shape.coordinate(other, d), key = [node, d, sign * side, said].join();
        const x = layout.x[node], y = layout.y[node];
        texts.set(key, [x + side * (far + 0.1) * tx, y + side * (far + 0.1) * ty, layout.rest.length > 1 ? d + ":" + said : said]);
        if (seen.has(key + side)) continue;
        seen.add(key + side);
        lines.push([[[x + ox + a * tx, y + oy + a * ty], [x + ox + b * tx, y + oy + b * ty]]]);
      }
    }
    if (lines.length === 0) return;
    g.strokeStyle = g.fillStyle = paint;
    g.lineWidth = Math.max(0.8, Math.min(3, cell * 0.05));
    this.stroke_lines(g, lines);
    if (cell >= 12) this.fill_heads(g, lines, Math.min(9, cell * 0.16));
    if (cell < 34) return;
    g.font = Math.min(12, cell * 0.24) + "px system-ui, sans-serif";
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.fillStyle = p.ink;
    for (const [x, y, text] of texts.values()) g.fillText(text, this.x(x), this.y(y));
    g.textAlign = "left";
    g.textBaseline = "alphabetic";
  }
  // By which message each node first had data, so far; of what gathers at a root, by which it first gave its own.
  draw_tree(g, p, time) {
    const {shape, messages, data} = this.run, sends = data.collective === "reduce" || data.collective === "gather", all = [];
    for (let node = 0; node < shape.nodes; ++node) {
      const first = (sends ? messages.sent_by(node) : messages.heard_by(node)).find(m => messages.block_count[m] > 0 || data.collective === "barrier");
      if (first === undefined || messages.step[first] >= time) continue;
      const lines = T.route_lines(shape, this.layout, messages.source[first], messages.path(first), state.only, false);
      if (lines.length > 0) all.push(lines);
    }
    g.strokeStyle = g.fillStyle = p.tree;
    g.lineWidth = Math.max(1, Math.min(6, this.cell * 0.1));
    this.stroke_lines(g, all);
  }
}
