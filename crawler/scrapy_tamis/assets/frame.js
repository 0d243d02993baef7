"use strict";
// Draws the page inside the sandboxed frame, element by element, and marks its sections. It is the only script that runs
// there: the page's own are not drawn, and the policy of the frame lets no other in. It speaks through one port.
(() => {
  const SVG = "http://www.w3.org/2000/svg", MATH = "http://www.w3.org/1998/Math/MathML";
  const LAYER = `
    :host { all: initial; }
    .box { position: absolute; box-sizing: border-box; border-radius: 2px; pointer-events: none; }
    .content { color: rgb(0 90 150); background: rgb(0 114 178 / .09); box-shadow: inset 0 0 0 1px rgb(0 114 178 / .55); }
    .template { color: rgb(176 70 0); background: rgb(213 94 0 / .2); box-shadow: inset 0 0 0 1px rgb(213 94 0 / .75); }
    .comments { color: rgb(110 45 130); background: rgb(136 72 152 / .18); box-shadow: inset 0 0 0 1px rgb(136 72 152 / .75); }
    .copy { color: rgb(70 70 70); background: rgb(110 110 110 / .25); box-shadow: inset 0 0 0 1px rgb(90 90 90 / .75); }
    .hovered { box-shadow: inset 0 0 0 2px currentcolor; }
    .selected { box-shadow: inset 0 0 0 3px currentcolor, 0 0 0 3px rgb(255 255 255 / .8); }
    .differs { background-image: repeating-linear-gradient(45deg, rgb(0 0 0 / .28) 0 3px, transparent 3px 9px); }
    .marked::after { content: "✕ wrong"; position: absolute; inset: 0 0 auto auto; font: 700 11px/1.5 system-ui;
      background: #111; color: #fff; padding: 0 5px; border-radius: 0 0 0 4px; }
    .no-content .content:not(.selected), .no-template .template:not(.selected), .no-comments .comments:not(.selected),
    .no-copy .copy:not(.selected) { display: none; }
    .root { border: 2px dashed currentcolor; color: rgb(60 60 60); }
  `;
  const BASE = `
    :where(html) { background: #fff; color: #111; font-family: system-ui, sans-serif; line-height: 1.45; }
    :where(svg:not([width])) { max-width: 2em; max-height: 2em; }
    :where(img, video, canvas) { max-width: 100%; }
    img:not([src]) { max-height: 8em; }
    tamis-frame { display: inline-block; min-width: 8em; min-height: 3em; border: 1px dashed #999; background: #f4f4f4; }
    .tamis-unstyled { max-width: 60rem; margin: 1rem auto; padding: 0 1rem; }
    .tamis-unstyled img:not([src]) { font-size: .85em; color: #666; border: 1px dashed #bbb; padding: 0 .3em; }
  `;
  const elements = [], texts = [];
  let port, layer, boxes = [], regions = [], looks = {};

  const create = (name, within) => {
    if (name === "svg" || within === SVG) return document.createElementNS(SVG, name);
    if (name === "math" || within === MATH) return document.createElementNS(MATH, name);
    return document.createElement(name);
  };

  function build(tree, styles) {
    const root = document.documentElement, body = document.body, head = document.head;
    const { tag, parent, attributes, own, runs, runOwner, runBegin } = tree;
    let run = 0;
    const place = (until) => {
      for (; run < until; run++) {
        const owner = elements[runOwner[run]];
        texts[run] = owner ? owner.appendChild(document.createTextNode(runs[run])) : null;
      }
    };
    for (let at = 0; at < tag.length; at++) {
      place(runBegin[at]);
      const above = parent[at] < 0 ? null : elements[parent[at]];
      const name = tag[at];
      if (!name) { elements[at] = null; continue; }
      let element;
      if (name === "html") element = root;
      else if (name === "body") element = body;
      else if (name === "head") element = head;
      else {
        element = create(name, above && above.namespaceURI);
        if (own[at]) element.textContent = own[at];
        (above || body).appendChild(element);
      }
      for (const [attribute, value] of attributes[at] || []) {
        try { element.setAttribute(attribute, value); } catch { /* a name that no attribute can have */ }
      }
      if (name === "details") element.open = true;
      elements[at] = element;
    }
    place(runs.length);
    for (const address of styles) {
      const sheet = document.createElement("link");
      sheet.rel = "stylesheet"; sheet.href = address; sheet.addEventListener("load", () => arrange());
      head.appendChild(sheet);
    }
    if (!head.querySelector("style:not([data-tamis])") && !styles.length) body.classList.add("tamis-unstyled");
    // Bars and notices that float above the page would hide what is below them, since no script takes them away.
    // All are found before any is changed, since a style that is read after a change is computed anew. Reading offsetParent
    // first, which fixed elements do not have, spares most elements of that.
    const floating = elements.filter((element) => element && element.offsetParent === null && element.getClientRects().length &&
      getComputedStyle(element).position === "fixed");
    for (const element of floating) element.style.setProperty("position", "absolute", "important");
  }

  const hasSize = (rect) => rect.width > 1 && rect.height > 1;
  function rectangles(region) {
    const found = [], range = document.createRange();
    for (const element of region.tops.map((at) => elements[at]).filter(Boolean)) {
      range.selectNodeContents(element);
      const rect = element.getBoundingClientRect();
      found.push(hasSize(rect) ? rect : range.getBoundingClientRect());
    }
    for (const [begin, end] of region.runs) {
      const nodes = texts.slice(begin, end).filter((node) => node && node.isConnected);
      if (!nodes.length) continue;
      range.setStartBefore(nodes[0]);
      range.setEndAfter(nodes[nodes.length - 1]);
      found.push(range.getBoundingClientRect());
    }
    return found.filter(hasSize);
  }

  function boxAround(rect, className, margin = 0) {
    const left = rect.left + scrollX - margin, top = rect.top + scrollY - margin;
    const width = rect.width + 2 * margin, height = rect.height + 2 * margin;
    const node = document.createElement("div");
    node.className = `box ${className}`;
    node.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
    return { node, left, top, width, height };
  }

  function arrange() {
    const unseen = [], fragment = document.createDocumentFragment();
    boxes = regions.flatMap((region, section) => {
      const rects = rectangles(region);
      if (!rects.length) unseen.push(section);
      return rects.map((rect) => ({ section, ...boxAround(rect, region.className) }));
    });
    for (const box of boxes) fragment.append(box.node);
    layer.replaceChildren(layer.firstChild, fragment);
    look();
    port.postMessage({ type: "arranged", unseen, boxes: boxes.length });
  }

  function look() {
    layer.className = looks.hidden;
    for (const { section, node } of boxes) {
      node.classList.toggle("hovered", section === looks.hovered);
      node.classList.toggle("selected", section === looks.selected);
    }
    for (const old of layer.querySelectorAll(".root")) old.remove();
    const root = elements[looks.root];
    if (!root || looks.selected < 0 || root === document.documentElement || !hasSize(root.getBoundingClientRect())) return;
    layer.append(boxAround(root.getBoundingClientRect(), "root", 2).node);
  }

  function under(event) {
    const x = event.clientX + scrollX, y = event.clientY + scrollY;
    let best = null, area = Infinity;
    for (const box of boxes) {
      if (x < box.left || y < box.top || x > box.left + box.width || y > box.top + box.height) continue;
      if (box.width * box.height < area) { best = box; area = box.width * box.height; }
    }
    return best ? best.section : -1;
  }

  function draw({ tree, styles }) {
    const style = document.createElement("style");
    style.dataset.tamis = ""; style.textContent = BASE;
    document.head.append(style);
    build(tree, styles);
    const host = document.createElement("tamis-layer");
    host.style.cssText = "all:initial!important;position:absolute!important;left:0!important;top:0!important;" +
      "z-index:2147483647!important;pointer-events:none!important;display:block!important";
    document.documentElement.append(host);
    const shadow = host.attachShadow({ mode: "closed" });
    layer = shadow.appendChild(document.createElement("div"));
    const css = layer.appendChild(document.createElement("style"));
    css.textContent = LAYER;
    new ResizeObserver(() => arrange()).observe(document.body);
    port.postMessage({ type: "drawn" });
  }
  function paint(message) {
    looks = message.looks;
    if (message.regions) { regions = message.regions; arrange(); return; }
    look();
    const box = boxes.find(({ section }) => section === looks.selected);
    if (message.show && box) box.node.scrollIntoView({ block: "nearest" });
  }

  const forwarded = new Set(["ArrowUp", "ArrowDown", "Escape"]); // and all that write something
  const send = (message) => { if (port) port.postMessage(message); };
  addEventListener("mousemove", (event) => send({ type: "hover", section: under(event) }));
  addEventListener("mouseout", (event) => event.relatedTarget || send({ type: "hover", section: -1 }));
  for (const kind of ["click", "auxclick", "submit", "dragstart", "contextmenu"]) {
    addEventListener(kind, (event) => {
      if (kind !== "contextmenu") event.preventDefault();
      if (kind === "click") send({ type: "select", section: under(event) });
    }, true);
  }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.length === 1 || forwarded.has(event.key)) {
      event.preventDefault();
      send({ type: "key", key: event.key });
    }
  }, true);
  addEventListener("message", function opened(event) {
    if (event.source !== parent || !event.ports.length) return;
    removeEventListener("message", opened);
    port = event.ports[0];
    port.onmessage = ({ data }) => paint(data);
    draw(event.data);
  });
})();
