  // The inspector: the page in a frame on the left, what comes out of it on the right, and the settings that are tried.
  // Its parts share one scope: sections and the frame, the card, the right side, and the settings.
  const KINDS = ["content", "template", "comments", "copy"];
  const KIND_NAMES = ["Content", "Template", "Comments", "Copies"];
  const REASONS = {
    site: "most of its text is on other pages of the site", landmark: "it lies in a nav, header, footer or aside",
    links: "most of its text is links", copy: "the page has the same text before it",
    author: "the author marks another part of the page as the article",
    leftover: "it is what is left of a conditional comment", model: "its score alone says so", "": "kept",
  };
  const TABS = ["Sections", "Text", "Markdown", "HTML", "Facts", "Item"];
  const FRAME_POLICY = (nonce, assets) => `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'${assets};` +
    ` img-src data:${assets}; font-src data:${assets}; form-action 'none'; base-uri ${assets ? "*" : "'none'"}`;
  const data = JSON.parse(document.getElementById("data").textContent);
  const nonce = document.currentScript.nonce;
  const find = (id) => document.getElementById(id);
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const tree = data.document.tree;
  const [blockFrom, blockTo] = tree.blockRuns, [firstBlock, lastBlock] = tree.blocks;
  const UNSPACED = "\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff"; // scripts of which a character counts as a word
  const WORD = new RegExp(`[${UNSPACED}]|[^\\s${UNSPACED}]+`, "g");
  const blockTexts = blockFrom.map((from, at) => tree.runs.slice(from, blockTo[at]).join("").replace(/\s+/g, " ").trim());
  const blockWords = blockTexts.map((text) => (text.match(WORD) || []).length);
  const wordsOf = (blocks) => blocks.reduce((sum, block) => sum + blockWords[block], 0);
  let state = data.state, pinned = null, port = null, unseen = new Set(), outputs = data.outputs || null, asked = 0;
  let units = [], shown = [true, true, true, true], hovered = -1, selected = -1, tab = "Sections", blockwise = false;
  let withCut = true, rendered = true, query = "", marks = new Map(), weights = new Map(), saved = data.saved || 0;

  // ---- what can be selected: sections, or single blocks ----
  function arrangeUnits() {
    const differs = differing();
    if (blockwise) {
      const order = blockTexts.map((_, block) => block);
      units = order.map((block) => ({ ...state.sections[state.section[block]], kind: state.kind[block], blocks: [block] }));
    } else {
      units = state.sections.map((section) => ({ ...section, blocks: [] }));
      state.section.forEach((section, block) => units[section].blocks.push(block));
    }
    for (const unit of units) {
      unit.text = unit.blocks.map((block) => blockTexts[block]).join(" ¶ ");
      unit.differs = unit.blocks.some((block) => differs.has(block));
      unit.marked = unit.blocks.length > 0 && unit.blocks.every((block) => marks.has(block));
    }
  }
  const unitOf = (block) => (blockwise ? block : state.section[block]);
  const cutAs = (block, of = state) => of.kind[block] !== 0;
  function differing() {
    const found = new Set();
    if (pinned) blockTexts.forEach((_, block) => cutAs(block) !== cutAs(block, pinned) && found.add(block));
    return found;
  }

  // Elements all of whose text is of one unit and one kind are drawn as boxes; other text is drawn run by run.
  function regions() {
    const parent = tree.parent, count = parent.length;
    const value = (block) => unitOf(block);
    const last = new Int32Array(blockTexts.length); // where the stretch of equal units that a block is in ends
    for (let block = last.length - 1; block >= 0; block--) {
      last[block] = block + 1 < last.length && value(block + 1) === value(block) ? last[block + 1] : block + 1;
    }
    const uniform = new Int32Array(count).fill(-1);
    for (let at = 0; at < count; at++) {
      if (lastBlock[at] > firstBlock[at] && last[firstBlock[at]] >= lastBlock[at]) uniform[at] = value(firstBlock[at]);
    }
    const by = new Map(), covered = new Uint8Array(blockTexts.length);
    const of = (unit) => {
      if (!by.has(unit)) {
        const { kind, differs, marked } = units[unit];
        by.set(unit, { section: unit, kind, name: KINDS[kind], differs, marked, tops: [], runs: [] });
      }
      return by.get(unit);
    };
    for (let at = 0; at < count; at++) {
      if (uniform[at] < 0 || tree.tag[at] < 0 || (parent[at] >= 0 && uniform[parent[at]] >= 0)) continue;
      of(uniform[at]).tops.push(at);
      covered.fill(1, firstBlock[at], lastBlock[at]);
    }
    blockFrom.forEach((from, block) => covered[block] || of(value(block)).runs.push([from, blockTo[block]]));
    return [...by.values()];
  }

  function paint() { if (port) port.postMessage({ type: "paint", regions: regions(), shown }); look(); }
  function look(show = false) {
    const root = selected >= 0 && units[selected] && !blockwise ? units[selected].element : -1;
    if (port) port.postMessage({ type: "look", looks: { hovered, selected, root, shown }, show });
    for (const old of find("panel").querySelectorAll(".hovered, .selected")) {
      old.classList.remove("hovered", "selected");
      if (old.role === "option") old.setAttribute("aria-selected", false);
    }
    for (const [unit, name] of [[hovered, "hovered"], [selected, "selected"]]) {
      for (const element of unit >= 0 ? find("panel").querySelectorAll(`[data-unit="${unit}"]`) : []) {
        element.classList.add(name);
        if (element.role === "option") element.setAttribute("aria-selected", unit === selected);
      }
    }
  }

  // ---- the frame ----
  function openFrame() {
    const assets = data.assets ? " https: http:" : "", escape = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
    const base = data.assets && data.document.url ? `<base href="${escape(data.document.url)}">` : "";
    const frame = make("iframe", { title: "The page, as it looks" });
    frame.setAttribute("sandbox", "allow-scripts");
    frame.srcdoc = `${tree.doctype ? "<!DOCTYPE html>" : ""}<html><head><meta http-equiv="Content-Security-Policy" ` +
      `content="${FRAME_POLICY(nonce, assets)}"><meta name="referrer" content="no-referrer">${base}` +
      `<script nonce="${nonce}">${find("frame-script").textContent}</scr` + `ipt></head><body></body></html>`;
    find("stage").classList.add("busy");
    frame.addEventListener("load", () => {
      const channel = new MessageChannel();
      port = channel.port1;
      port.onmessage = ({ data: message }) => heard(message);
      frame.contentWindow.postMessage("open", "*", [channel.port2]);
    });
    find("stage").replaceChildren(frame);
  }
  function heard(message) {
    if (message.type === "ready") port.postMessage({ type: "open", tree, styles: data.document.styles, assets: data.assets });
    else if (message.type === "drawn") { find("stage").classList.remove("busy"); document.documentElement.dataset.drawn = "yes"; paint(); }
    else if (message.type === "arranged") { unseen = new Set(message.unseen); document.documentElement.dataset.boxes = message.boxes; }
    else if (message.type === "hover" && Number.isInteger(message.section)) hover(message.section);
    else if (message.type === "select" && Number.isInteger(message.section)) select(message.section, "frame");
    else if (message.type === "key") key(String(message.key));
  }

  // ---- selecting ----
  function hover(unit) { if (unit !== hovered) { hovered = unit; look(); } }
  function select(unit, from = "") {
    selected = unit >= 0 && unit < units.length ? unit : -1;
    card();
    look(from !== "frame");
    const element = find("panel").querySelector(`[data-unit="${selected}"]`);
    if (element && from !== "panel") element.scrollIntoView({ block: "nearest" });
    const list = find("panel").querySelector(".sections");
    if (list) list.setAttribute("aria-activedescendant", selected >= 0 ? `unit-${selected}` : "");
  }
  const visible = (unit) => shown[unit.kind] && (!query || (unit.text + " " + unit.path).toLowerCase().includes(query));
  function step(by) {
    for (let at = selected < 0 && by < 0 ? units.length - 1 : selected + by; at >= 0 && at < units.length; at += by) {
      if (visible(units[at])) { select(at); return; }
    }
  }
