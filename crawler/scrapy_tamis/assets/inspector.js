(() => {
  // The inspector: the page in a frame on the left, its content on the right, and the settings that are tried.
  const KINDS = ["content", "template", "comments", "copy"];
  const KIND_NAMES = ["Content", "Template", "Comments", "Copies"];
  const REASONS = {
    site: "most of its text is on other pages of the site", landmark: "it lies in a nav, header, footer or aside",
    links: "most of its text is links", copy: "the page has the same text before it",
    author: "the author marks another part of the page as the article",
    hidden: "a reader of the page does not see it",
    leftover: "it is left over from a conditional comment", model: "by its score alone", "": "kept",
  };
  const KEPT = {
    site: "since few pages of the site have it", "main content": "as part of the main content",
  };
  const { tree } = data, flags = document.documentElement.dataset;
  const [blockFrom, blockTo] = tree.blockRuns, [firstBlock, lastBlock] = tree.blocks;
  const blockTexts = blockFrom.map((from, at) => tree.runs.slice(from, blockTo[at]).join("").replace(/\s+/g, " ").trim());
  const wordsOf = (blocks) => blocks.reduce((sum, block) => sum + tree.words[block], 0);
  const quiet = (textContent) => make("p", { className: "quiet", textContent });

  let state = data.state, trial = state.trial, pinned = null;
  let port = null, unseen = new Set(), shown = [true, true, true, true];
  let units = [], hovered = -1, selected = -1, blockwise = false;
  let tab = "Sections", query = "", withCut = true, rendered = true;
  let marks = new Map(), weights = new Map(), saved = data.saved || 0;

  // ---- what can be selected: sections, or single blocks ----
  function arrangeUnits() {
    const differs = differing();
    if (blockwise) {
      units = state.section.map((section, block) => ({ ...state.sections[section], kind: state.kind[block], blocks: [block] }));
    } else {
      units = state.sections.map((section) => ({ ...section, blocks: [] }));
      state.section.forEach((section, block) => units[section].blocks.push(block));
    }
    for (const unit of units) {
      unit.text = unit.blocks.map((block) => blockTexts[block]).join(" ¶ ");
      unit.marked = unit.blocks.every((block) => marks.has(block));
      unit.className = KINDS[unit.kind] + (unit.blocks.some((block) => differs.has(block)) ? " differs" : "") + (unit.marked ? " marked" : "");
    }
  }
  const unitOf = (block) => (blockwise ? block : state.section[block]);
  const isCut = (block, of = state) => of.kind[block] !== 0;
  function differing() {
    const found = new Set();
    if (pinned) blockTexts.forEach((_, block) => isCut(block) !== isCut(block, pinned) && found.add(block));
    return found;
  }
  function rearrange() { arrangeUnits(); paint(); panel(); }

  // Elements all of whose text is of one unit and one kind are drawn as boxes; other text is drawn run by run.
  function regions() {
    const found = units.map(({ className }) => ({ className, tops: [], runs: [] }));
    const of = blockTexts.map((_, block) => unitOf(block)), isDone = new Uint8Array(of.length);
    firstBlock.forEach((first, at) => {
      const end = lastBlock[at];
      if (!tree.tag[at] || first === end || isDone[first]) return; // an element around it is drawn
      for (let block = first; block < end; block++) if (of[block] !== of[first]) return;
      found[of[first]].tops.push(at);
      isDone.fill(1, first, end);
    });
    blockFrom.forEach((from, block) => isDone[block] || found[of[block]].runs.push([from, blockTo[block]]));
    return found;
  }

  // ---- the frame ----
  function paint() { look(false, units.length ? regions() : []); }
  function look(show = false, newRegions = null) {
    const root = units[selected] && !blockwise ? units[selected].element : -1;
    const hidden = KINDS.filter((_, kind) => !shown[kind]).map((name) => `no-${name}`).join(" ");
    if (port) port.postMessage({ regions: newRegions, looks: { hovered, selected, root, hidden }, show });
    for (const element of find("panel").querySelectorAll(`.hovered, .selected, [data-unit="${hovered}"], [data-unit="${selected}"]`)) {
      const unit = Number(element.dataset.unit);
      element.classList.toggle("hovered", unit === hovered);
      element.classList.toggle("selected", unit === selected);
      if (element.role === "option") element.ariaSelected = unit === selected;
    }
  }
  function openFrame() {
    const frame = find("frame");
    frame.addEventListener("load", () => {
      const channel = new MessageChannel();
      port = channel.port1;
      port.onmessage = ({ data: message }) => heard(message);
      frame.contentWindow.postMessage({ tree, styles: data.styles }, "*", [channel.port2]);
    });
    frame.srcdoc = frame.dataset.document;
  }
  function heard(message) {
    if (message.type === "drawn") { find("stage").classList.remove("busy"); paint(); }
    else if (message.type === "arranged") { unseen = new Set(message.unseen); flags.boxes = message.boxes; }
    else if (message.type === "hover" && Number.isInteger(message.section)) hover(message.section);
    else if (message.type === "select" && Number.isInteger(message.section)) select(message.section, "frame");
    else if (message.type === "key") key(String(message.key));
  }

  // ---- selecting ----
  function hover(unit) { if (unit !== hovered) { hovered = unit; look(); } }
  function select(unit, from = "") {
    selected = units[unit] ? unit : -1;
    card();
    look(from !== "frame");
    const element = find("panel").querySelector(`[data-unit="${selected}"]`);
    if (element && from !== "panel") element.scrollIntoView({ block: "nearest" });
    const list = find("panel").querySelector(".sections");
    if (list) list.setAttribute("aria-activedescendant", selected >= 0 ? `unit-${selected}` : "");
  }
  const visible = (unit) => shown[unit.kind] && (!query || `${unit.text} ${unit.path}`.toLowerCase().includes(query));
  function step(by) {
    for (let at = selected < 0 && by < 0 ? units.length - 1 : selected + by; units[at]; at += by) {
      if (visible(units[at])) { select(at); return; }
    }
  }

  // ---- the card of a section ----
  function card() { find("card").replaceChildren(...(units[selected] ? cardOf(units[selected]) : summary())); }
  function summary() {
    const kept = state.kind.filter((kind) => kind === 0).length;
    return [
      make("h2", { textContent: `${Math.round(100 * (1 - state.templateShare))} % of the text is kept` }),
      make("p", { textContent: `${digits(kept)} of ${digits(state.kind.length)} blocks in ${digits(state.sections.length)} sections` +
        ` · text is cut from a score of ${state.threshold.toFixed(2)} · ${state.model}` }),
      quiet("Choose a section on either side, or go through them with ↑ and ↓."),
    ];
  }
  function cardOf(unit) {
    const reason = unit.kind
      ? REASONS[unit.reason] || unit.reason
      : [`${digits(wordsOf(unit.blocks))} words kept`, KEPT[unit.reason] || unit.reason].filter(Boolean).join(", ");
    const kind = make("span", { className: `kind ${KINDS[unit.kind]}`, textContent: KIND_NAMES[unit.kind] });
    const heading = make("h2", {}, kind, make("span", { textContent: reason }));
    if (data.collect) heading.append(button(unit.marked ? "It is right after all" : "This is wrong", mark, { title: "x" }));
    const whole = state.kind.slice(firstBlock[unit.element], lastBlock[unit.element]).every((each) => each === unit.kind);
    if (data.rules && whole) { // a rule is for an element, which may hold more than the section
      const keep = unit.kind !== 0;
      heading.append(button(keep ? "Always keep" : "Always drop", () => writeRule(unit.element, keep), { title: "Write a rule for it" }));
    }
    const parts = [heading, make("div", { className: "meter" }, ...meter("page alone", unit.raw),
      ...(unit.on === null ? [] : meter("with the site", unit.adjusted)), ...meter("after smoothing", unit.score, state.threshold))];
    if (unit.on !== null) {
      parts.push(make("p", { textContent: `Its text is on ${unit.on} of ${state.counted} pages of the site that were seen.` }));
    }
    if (unseen.has(selected)) parts.push(quiet("It is not visible in this rendering: style sheets or the page itself hide it."));
    parts.push(make("p", {}, make("code", { textContent: unit.path })));
    const found = data.weights ? data.weights[state.section[unit.blocks[0]]] : weights.get(weightKey(unit));
    if (!found) askWeights(unit);
    else if (found.length) {
      parts.push(quiet("What weighed most, towards content on the left, towards template on the right:"), weightTable(found));
    }
    return parts;
  }
  function meter(name, value, threshold) {
    const track = make("span", { className: "track" }, make("span", { className: "fill", style: `width:${100 * value}%` }));
    if (threshold !== undefined) track.append(make("span", { className: "cut-line", style: `left:${100 * Math.min(threshold, 1)}%` }));
    return [make("b", { textContent: name }), track, make("span", { className: "number", textContent: value.toFixed(2) })];
  }
  function weightTable(found) {
    const most = Math.max(...found.map(([, part]) => Math.abs(part)));
    return make("div", { className: "weights" }, ...found.flatMap(([name, part, value]) => [
      make("span", { className: "name", textContent: name, title: name }),
      make("span", { className: "value", textContent: value === null ? "" : value.toFixed(2) }),
      make("span", {
        className: `part ${part > 0 ? "towards" : "away"}`,
        title: `towards ${part > 0 ? "template" : "content"}: ${Math.abs(part).toFixed(2)}`,
      }, make("i", { style: `width:${50 * Math.abs(part) / most}%` })),
    ]));
  }
  async function writeRule(element, keep) {
    const found = await ask("rule", { trial: state.trial, element, keep });
    if (found) { become(found.state); notice(found.said); }
  }
  const weightKey = (unit) => `${state.trial.model} ${unit.blocks.join(",")}`;
  async function askWeights(unit) {
    const name = weightKey(unit);
    weights.set(name, []);
    const answer = await ask("weights", { trial: state.trial, blocks: unit.blocks });
    if (answer) { weights.set(name, answer.weights); if (units[selected] && weightKey(units[selected]) === name) card(); }
  }

  // ---- the right side: its tabs, each a function that returns what the panel shows ----
  const PANELS = {
    Sections: sectionPanel, Text: textPanel,
    Markdown: () => [source(state.markdown)], HTML: () => htmlPanel(state.html),
    Facts: () => table([
      ["bytes", digits(data.bytes)], ["elements", digits(tree.tag.length)], ["model", state.model], ...facts(state.metadata),
    ]),
    Item: () => table(Object.entries(state.item)),
  };
  function facts({ sources, ...stated }) {
    const found = Object.entries(stated).filter(([, value]) => value && value.length);
    return found.map(([name, value]) => [name.replaceAll("_", " "), `${written(value)}\n(from ${sources[name]})`]);
  }
  function written(value) {
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(", ");
    return typeof value === "string" ? value : JSON.stringify(value, null, 1);
  }
  const tabs = Object.keys(PANELS).map((name) => button(name, () => open(name), { id: `tab-${name}` }));
  function open(name) {
    tab = name;
    for (const each of tabs) each.ariaPressed = each.textContent === tab;
    panel();
  }
  function panel() {
    find("panel").replaceChildren(...PANELS[tab]());
    look();
  }
  const modes = (...choices) => make("div", { className: "modes" },
    ...choices.map(([name, on, onclick]) => button(name, onclick, { ariaPressed: on })));
  function sectionPanel() {
    const bar = modes(["Sections", !blockwise, () => setBlockwise(false)], ["Blocks", blockwise, () => setBlockwise(true)]);
    const rows = make("ul", { className: "sections", role: "listbox", tabIndex: 0, ariaLabel: "Sections" });
    units.forEach((unit, at) => {
      if (!visible(unit)) return;
      const row = make("li", { id: `unit-${at}`, className: unit.className, role: "option", ariaSelected: at === selected },
        make("span", { className: "score", textContent: unit.score.toFixed(2) }),
        make("span", { className: "what", textContent: unit.kind ? unit.reason || KINDS[unit.kind] : "content" }),
        make("span", { className: "text", textContent: unit.text.slice(0, 200) }),
        make("span", { className: "words", textContent: `${wordsOf(unit.blocks)} w` }));
      row.dataset.unit = at;
      rows.append(row);
    });
    if (rows.children.length) return [bar, rows];
    return [bar, make("p", { textContent: state.sections.length ? "Nothing matches."
      : "This page has no sections: its text is in its JSON, it has none, or it was passed through." })];
  }
  function setBlockwise(on) {
    const block = units[selected] && units[selected].blocks[0];
    blockwise = on; rearrange(); select(unitOf(block));
  }
  function textPanel() {
    if (!state.kind.length && !state.text.some(([, , text]) => text)) return [make("p", { textContent: "This page has no text." })];
    const bar = modes(["Show what was cut", withCut, () => { withCut = !withCut; panel(); }]);
    if (!pinned) return [bar, running(state)];
    const side = (name, of, against) => make("div", {}, make("h2", { textContent: name }), running(of, against));
    return [bar, make("div", { className: "sides" }, side("Pinned", pinned, state), side("Now", state, pinned))];
  }
  function running(of, other) {
    const box = make("div", { className: "running", dir: "auto" });
    const part = (block, textContent, className = "") => {
      const span = make("span", { className, textContent });
      span.dataset.unit = of === state ? unitOf(block) : -2;
      if (other && isCut(block, of) !== isCut(block, other)) span.classList.add("differs");
      return span;
    };
    let next = 0;
    const addCuts = (until) => { // what is cut between two parts that are kept
      const cuts = make("div", { className: "cuts", tabIndex: 0 });
      for (; next < until; next++) {
        if (withCut && isCut(next, of)) cuts.append(part(next, blockTexts[next], `cut ${KINDS[of.kind[next]]}`), " ");
      }
      if (cuts.children.length) box.append(cuts);
      return cuts.children.length > 0;
    };
    for (const [between, block, text] of of.text) {
      const hasCuts = block >= 0 && addCuts(block);
      box.append(hasCuts ? between.trimStart() : between, block >= 0 ? part(block, text) : text);
      next = block + 1;
    }
    addCuts(blockTexts.length);
    return box;
  }
  const source = (textContent) => make("pre", { textContent, dir: "auto" });
  function htmlPanel(html) {
    const bar = modes(["Rendered", rendered, () => { rendered = true; panel(); }], ["Source", !rendered, () => { rendered = false; panel(); }]);
    const frame = make("iframe", { title: "Rendered", srcdoc: FRAME_HEAD + html });
    frame.setAttribute("sandbox", "");
    return [bar, rendered ? frame : source(html)];
  }
  const FRAME_HEAD = `<!DOCTYPE html><meta charset="utf-8"><base target="_blank"><meta http-equiv="Content-Security-Policy"
    content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"><style>
    body { font: 15px/1.6 system-ui, sans-serif; max-width: 46em; margin: 1em auto; padding: 0 1em; overflow-wrap: anywhere }
    img { max-width: 100% } pre { overflow: auto; background: #f4f4f4; padding: .6em }
    table { border-collapse: collapse } td, th { border: 1px solid #ccc; padding: .2em .6em }
    blockquote { border-left: 3px solid #ccc; margin-left: 0; padding-left: 1em }</style>`;
  function table(rows) {
    const row = ([name, value]) => make("tr", {}, make("th", { textContent: name, scope: "row" }), make("td", { textContent: written(value) }));
    return [make("table", { className: "facts" }, make("tbody", {}, ...rows.map(row)))];
  }
  const unitUnder = (event) => { const at = event.target.closest("[data-unit]"); return at ? Number(at.dataset.unit) : -1; };
  find("panel").addEventListener("click", (event) => { if (unitUnder(event) >= 0) select(unitUnder(event), "panel"); });
  find("panel").addEventListener("mousemove", (event) => hover(unitUnder(event)));
  find("panel").addEventListener("mouseleave", () => hover(-1));

  // ---- asking the server ----
  let isUnderWay = false;
  async function attempt(values) {
    trial = values;
    showControls();
    if (isUnderWay) return; // what is set meanwhile is asked next
    isUnderWay = true;
    for (let asked = null; asked !== trial;) {
      asked = trial;
      const found = await ask("state", asked);
      if (found) become(found);
    }
    isUnderWay = false;
  }
  function become(found) {
    const block = units[selected] && units[selected].blocks[0];
    state = found;
    rearrange(); legend(); showControls(); compare();
    selected = block === undefined ? -1 : unitOf(block);
    card(); look();
    flags.answered = "yes";
  }

  // ---- settings that are tried ----
  const SETTINGS = { // by control, what its value sets
    model: (value) => ({ model: value || null }),
    favor: (value) => ({ favor: value, threshold: null }), // neither has an effect on a threshold that is set
    scope: (value) => ({ scope: value, threshold: null }),
    threshold: (value) => ({ threshold: Number(value) }),
    seen: (value) => ({ pages: Number(value) }),
  };
  function showControls() {
    const { model, favor, scope, threshold, pages } = trial, at = threshold ?? state.threshold;
    find("model").value = model || ""; find("favor").value = favor; find("scope").value = scope;
    find("threshold").value = at;
    find("threshold-value").textContent = at.toFixed(2) + (threshold === null ? " (own)" : "");
    find("pages-seen").hidden = !state.seen;
    find("seen").max = state.seen; find("seen").value = pages;
    find("seen-value").textContent = pages;
  }
  function compare() {
    find("pin").ariaPressed = pinned !== null;
    find("pin").textContent = pinned ? "Unpin" : "Pin to compare";
    if (!pinned) { notice(data.notice); return; }
    const differs = [...differing()];
    const less = wordsOf(differs.filter((block) => isCut(block))), more = wordsOf(differs.filter((block) => !isCut(block)));
    const { model, threshold, pages, favor, scope } = pinned.trial;
    notice(`Against the pinned (${model || "own model"}, favor ${favor}, scope ${scope}, ` +
      `cut from ${threshold === null ? "its own" : threshold.toFixed(2)}, ${pages} pages seen): ` +
      (more || less ? `${digits(more)} words are kept that were not, ${digits(less)} are cut that were kept.` : "the same text."));
  }
  function pin() { pinned = pinned ? null : state; rearrange(); compare(); }
  function legend() {
    const words = [0, 0, 0, 0];
    state.kind.forEach((kind, block) => { words[kind] += tree.words[block]; });
    find("legend").replaceChildren(...KINDS.map((className, kind) => {
      const count = make("span", { className: "quiet", textContent: `${digits(words[kind])} words` });
      const choice = button("", () => toggle(kind),
        { className, title: `Show or hide  ${kind + 1}`, ariaPressed: shown[kind], hidden: !words[kind] && kind > 1 });
      choice.append(make("i"), `${KIND_NAMES[kind]} `, count);
      return choice;
    }));
  }
  function toggle(kind) { shown[kind] = !shown[kind]; legend(); paint(); if (tab === "Sections") panel(); }

  // ---- gold ----
  function mark() {
    const unit = units[selected];
    if (!data.collect || !unit) return;
    for (const block of unit.blocks) unit.marked ? marks.delete(block) : marks.set(block, isCut(block) ? "content" : "template");
    rearrange(); card(); showMarks();
  }
  function showMarks() {
    const nothing = data.known ? "Already saved; mark what is wrong, or save again" : "Nothing is marked as wrong";
    const said = marks.size ? `${digits(wordsOf([...marks.keys()]))} words are marked as wrong` : nothing;
    find("marks").textContent = `${said} · ${digits(saved)} in ${data.collect}`;
  }
  async function save() {
    if (!data.collect) return;
    const found = await ask("gold", { trial: state.trial, marks: [...marks] });
    if (!found) return;
    saved = found.saved; data.known = true;
    if (found.next !== null) go(found.next);
    else find("marks").textContent = `Saved; ${digits(saved)} in ${data.collect}`;
  }

  // ---- everything around ----
  Object.assign(KEYS, {
    ArrowDown: () => step(1), ArrowUp: () => step(-1),
    Escape: () => select(-1), "/": () => find("search").focus(), b: () => setBlockwise(!blockwise),
    x: mark, s: save, p: () => find("controls").hidden || pin(),
    1: () => toggle(0), 2: () => toggle(1), 3: () => toggle(2), 4: () => toggle(3),
  });
  find("search").addEventListener("input", (event) => {
    query = event.target.value.toLowerCase();
    open("Sections");
  });
  find("pin").addEventListener("click", pin);
  find("save").addEventListener("click", save);
  find("reset").addEventListener("click", () => attempt(data.state.trial));
  for (const id in SETTINGS) find(id).addEventListener("input", () => attempt({ ...trial, ...SETTINGS[id](find(id).value) }));
  find("tabs").append(...tabs);
  rearrange(); legend(); open(tab); card(); showControls(); showMarks(); compare(); openFrame();
})();
