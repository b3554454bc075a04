"use strict";
// Algorithms to switch on and off. The figure is there already: a curve is shown or not, and so is each crossing of two that are shown,
// unless a third one that is shown is faster there. The table leaves out the same rows.
for (const chart of document.querySelectorAll("section.chart")) {
  const boxes = [...chart.querySelectorAll(".switches input")];
  const list = text => (text ? text.split(" ").map(Number) : []);

  function update() {
    const on = boxes.map(box => box.checked);
    for (const e of chart.querySelectorAll("g.curve, tr[data-curve]")) {
      if (e.tagName === "TR") e.hidden = !on[Number(e.dataset.curve)];
      else if (on[Number(e.dataset.curve)]) e.removeAttribute("display");
      else e.setAttribute("display", "none");
    }
    for (const e of chart.querySelectorAll("g.crossing")) {
      const shown = list(e.dataset.pair).every(c => on[c]) && !list(e.dataset.faster).some(c => on[c]);
      if (shown) e.removeAttribute("display");
      else e.setAttribute("display", "none");
    }
  }
  for (const box of boxes) box.onchange = update;
  const set = value => () => {
    for (const box of boxes) box.checked = value;
    update();
  };
  const at_first = boxes.map(box => box.defaultChecked);
  chart.querySelector("button.best").onclick = () => {
    boxes.forEach((box, i) => { box.checked = at_first[i]; });
    update();
  };
  chart.querySelector("button.all").onclick = set(true);
  chart.querySelector("button.none").onclick = set(false);
  chart.querySelector(".switches").hidden = false;
  update();  // a browser may remember boxes from before

  // What the nearest mark says stands beside the pointer, or the finger.
  const svg = chart.querySelector("svg"), reading = document.createElement("div");
  reading.className = "reading";
  reading.hidden = true;
  chart.append(reading);
  svg.onpointermove = svg.onpointerdown = event => {
    let nearest = null, least = 24;
    for (const mark of chart.querySelectorAll("g.curve .mark, g.crossing")) {
      const title = mark.querySelector("title"), box = title ? mark.getBoundingClientRect() : null;
      if (!box || box.width === 0) continue;
      const far = Math.hypot(box.left + box.width / 2 - event.clientX, box.top + Math.min(box.height, 20) / 2 - event.clientY);
      if (far < least) [nearest, least] = [title, far];
    }
    reading.hidden = nearest === null;
    if (!nearest) return;
    reading.textContent = nearest.textContent;
    reading.style.top = event.clientY + 16 + "px";
    reading.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - reading.offsetWidth - 8)) + "px";
  };
  svg.onpointerleave = () => { reading.hidden = true; };
}
