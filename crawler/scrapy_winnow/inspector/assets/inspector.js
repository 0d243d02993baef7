(() => {
  // The inspector: the page in a frame on the left, its content on the right, and the settings that are tried.
  // Its parts share one scope: sections and the frame, the card, the right side, and the settings.
  const KINDS = ["content", "template", "comments", "copy"];
  const KIND_NAMES = ["Content", "Template", "Comments", "Copies"];
  const REASONS = {
    site: "most of its text is on other pages of the site", landmark: "it lies in a nav, header, footer or aside",
    links: "most of its text is links", copy: "the page has the same text before it",
    author: "the author marks another part of the page as the article",
    leftover: "it is left over from a conditional comment", model: "by its score alone", "": "kept",
  };
  const KEPT = { site: "since few pages of the site have it", "main content": "as part of the main content", structure: "with the table or list it is in" };
  const TABS = ["Sections", "Text", "Markdown", "HTML", "Facts", "Item"];
  const FRAME_POLICY = (nonce, assets) => `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'${assets};` +
    ` img-src data:${assets}; font-src data:${assets}; form-action 'none'; base-uri ${assets ? "*" : "'none'"}`;
  const nonce = document.currentScript.nonce;
  const tree = data.document.tree;
  const [blockFrom, blockTo] = tree.blockRuns, [firstBlock, lastBlock] = tree.blocks;
  const UNSPACED = "\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff"; // scripts of which a character counts as a word
  const WORD = new RegExp(`[${UNSPACED}]|[^\\s${UNSPACED}]+`, "g");
  const blockTexts = blockFrom.map((from, at) => tree.runs.slice(from, blockTo[at]).join("").replace(/\s+/g, " ").trim());
  const blockWords = blockTexts.map((text) => (text.match(WORD) || []).length);
  const wordsOf = (blocks) => blocks.reduce((sum, block) => sum + blockWords[block], 0);
  let state = data.state, pinned = null, port = null, unseen = new Set(), outputs = data.outputs || null, requests = 0;
  let units = [], shown = [true, true, true, true], hovered = -1, selected = -1, tab = "Sections", blockwise = false;
  let withCut = true, rendered = true, query = "", marks = new Map(), weights = new Map(), saved = data.saved || 0;

  // ---- what can be selected: sections, or single blocks ----
  function arrangeUnits() {
    const differs = differing();
    if (blockwise) {
      const order = state.section.map((_, block) => block);
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

  function paint() { if (port) port.postMessage({ type: "paint", regions: units.length ? regions() : [], shown }); look(); }
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
  // The card of a section.
  function meter(name, value, line) {
    if (value === null || value === undefined) return [];
    const track = make("span", { className: "track" });
    const fill = make("span", { className: "fill" });
    fill.style.width = `${100 * value}%`;
    track.append(fill);
    if (line !== undefined) { const cut = make("span", { className: "cut-line" }); cut.style.left = `${100 * Math.min(line, 1)}%`; track.append(cut); }
    return [make("b", { textContent: name }), track, make("span", { className: "number", textContent: value.toFixed(2) })];
  }
  function card() {
    const unit = units[selected], box = find("card");
    if (!unit) {
      const kept = state.kind.filter((kind) => kind === 0).length;
      box.replaceChildren(
        make("h2", { textContent: `${Math.round(100 * (1 - state.templateShare))} % of the text is kept` }),
        make("p", { textContent: `${kept.toLocaleString("en")} of ${state.kind.length.toLocaleString("en")} blocks in ` +
          `${state.sections.length.toLocaleString("en")} sections · text is cut from a score of ${state.threshold.toFixed(2)} · ${state.model}` }),
        make("p", { className: "quiet", textContent: "Choose a section on either side, or go through them with ↑ and ↓." }));
      return;
    }
    const parts = [make("h2", {}, make("span", { className: `kind ${KINDS[unit.kind]}`, textContent: KIND_NAMES[unit.kind] }),
      make("span", { textContent: unit.kind ? REASONS[unit.reason] || unit.reason : `${wordsOf(unit.blocks).toLocaleString("en")} words kept${unit.reason ? `, ${KEPT[unit.reason] || unit.reason}` : ""}` }))];
    if (data.collect && unit.blocks.length) {
      const wrong = make("button", { type: "button", textContent: unit.marked ? "It is right after all" : "This is wrong" });
      wrong.title = "x"; wrong.addEventListener("click", mark);
      parts[0].append(wrong);
    }
    const whole = state.kind.slice(firstBlock[unit.element], lastBlock[unit.element]).every((kind) => kind === unit.kind);
    if (data.rules && unit.blocks.length && whole) { // a rule is for an element, which may hold more than the section
      const keep = unit.kind !== 0, rule = make("button", { type: "button", textContent: keep ? "Always keep" : "Always drop" });
      rule.title = "Write a rule for it"; rule.addEventListener("click", () => writeRule(unit.element, keep));
      parts[0].append(rule);
    }
    const meters = make("div", { className: "meter" });
    meters.append(...meter("page alone", unit.raw));
    if (unit.on !== null) meters.append(...meter("with the site", unit.adjusted));
    meters.append(...meter("after smoothing", unit.score, state.threshold));
    parts.push(meters);
    if (unit.on !== null) parts.push(make("p", { textContent: `Its text is on ${unit.on} of ${Math.min(state.trial.pages, state.seen)} pages of the site that were seen.` }));
    if (unseen.has(selected)) parts.push(make("p", { className: "quiet", textContent: "It is not visible in this rendering: style sheets or the page itself hide it." }));
    parts.push(make("p", {}, make("code", { textContent: unit.path })));
    const found = data.weights ? data.weights[unit.unit] || [] : weights.get(weightKey(unit));
    if (found && found.length) {
      const most = Math.max(...found.map(([, part]) => Math.abs(part)));
      const table = make("div", { className: "weights" });
      for (const [name, part, value] of found) {
        const bar = make("i");
        bar.style.width = `${50 * Math.abs(part) / most}%`;
        table.append(make("span", { className: "name", textContent: name, title: name }),
          make("span", { className: "value", textContent: value === null ? "" : value.toFixed(2) }),
          make("span", { className: `part ${part > 0 ? "towards" : "away"}`, title: `${part > 0 ? "towards template" : "towards content"}: ${Math.abs(part).toFixed(2)}` }, bar));
      }
      parts.push(make("p", { className: "quiet", textContent: "What weighed most, towards content on the left, towards template on the right:" }), table);
    } else if (!found) askWeights(unit);
    box.replaceChildren(...parts);
  }
  async function writeRule(element, keep) {
    const found = await ask("rule", { trial: state.trial, element, keep });
    if (found) { outputs = null; become(found.state); notice(found.said); }
  }
  const weightKey = (unit) => `${state.trial.model} ${unit.blocks.join(",")}`;
  async function askWeights(unit) {
    const name = weightKey(unit);
    if (!data.server || !unit.blocks.length) return;
    weights.set(name, []);
    const answer = await ask("weights", { trial: state.trial, blocks: unit.blocks });
    if (answer) { weights.set(name, answer.weights); if (units[selected] && weightKey(units[selected]) === name) card(); }
  }
  // The right side: sections, text, Markdown, HTML, facts and item.
  function showTabs() {
    find("tabs").replaceChildren(...TABS.map((name) => {
      const button = make("button", { type: "button", id: `tab-${name}`, textContent: name, tabIndex: name === tab ? 0 : -1 });
      button.setAttribute("role", "tab"); button.setAttribute("aria-selected", name === tab); button.setAttribute("aria-controls", "panel");
      button.addEventListener("click", () => { tab = name; showTabs(); panel(); });
      button.addEventListener("keydown", (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        tab = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length];
        showTabs(); panel(); find(`tab-${tab}`).focus();
      });
      return button;
    }));
    find("panel").setAttribute("aria-labelledby", `tab-${tab}`);
  }
  function modes(...pairs) {
    return make("div", { className: "modes" }, ...pairs.map(([name, on, click]) => {
      const button = make("button", { type: "button", textContent: name });
      button.setAttribute("aria-pressed", on); button.addEventListener("click", click);
      return button;
    }));
  }
  function list() {
    const rows = make("ul", { className: "sections" });
    rows.role = "listbox"; rows.tabIndex = 0; rows.setAttribute("aria-label", "Sections");
    units.forEach((unit, at) => {
      if (!visible(unit)) return;
      const row = make("li", { id: `unit-${at}`, className: KINDS[unit.kind] + (unit.differs ? " differs" : "") + (unit.marked ? " marked" : "") },
        make("span", { className: "bar" }), make("span", { className: "score", textContent: unit.score.toFixed(2) }),
        make("span", { className: "what", textContent: unit.kind ? unit.reason || KINDS[unit.kind] : "content" }),
        make("span", { className: "text", textContent: unit.text.slice(0, 200) || `(no text) ${unit.path}` }),
        make("span", { className: "words", textContent: unit.blocks.length ? `${wordsOf(unit.blocks)} w` : "" }));
      row.role = "option"; row.dataset.unit = at; row.setAttribute("aria-selected", at === selected);
      rows.append(row);
    });
    if (!rows.children.length) return [blocksButton(), make("p", { textContent: state.sections.length ? "Nothing matches." : "This page has no sections: its text is in its JSON, it has none, or it was passed through." })];
    return [blocksButton(), rows];
  }
  const blocksButton = () => modes(["Sections", !blockwise, () => setBlockwise(false)], ["Blocks", blockwise, () => setBlockwise(true)]);
  function setBlockwise(on) {
    const at = units[selected] && units[selected].blocks[0];
    blockwise = on; arrangeUnits(); paint(); panel(); select(at === undefined ? -1 : unitOf(at));
  }
  const FOLDED = 400; // characters that are cut at a stretch; a menu of several hundred words would hide what is kept
  function running(of, other) {
    const box = make("div", { className: "running", dir: "auto" }), text = of.text;
    const place = new Map(of.spans.map(([block, from, to]) => [block, [from, to]]));
    let at = 0, cuts = null; // what is cut between two parts that are kept
    blockTexts.forEach((content, block) => {
      const span = make("span");
      span.dataset.unit = of === state ? unitOf(block) : -2;
      if (other && cutAs(block, of) !== cutAs(block, other)) span.classList.add("differs");
      if (place.has(block)) {
        const [from, to] = place.get(block), between = text.slice(at, from);
        box.append(cuts || at === 0 ? between.replace(/^\s+/, "") : between); span.textContent = text.slice(from, to); at = to;
        cuts = null;
      } else if (withCut && cutAs(block, of)) {
        span.classList.add("cut", KINDS[of.kind[block]]); span.textContent = content;
        if (!cuts) { cuts = make("div", { className: "cuts" }); box.append(cuts); }
        cuts.append(cuts.children.length ? " " : "", span);
        return;
      } else return;
      box.append(span);
    });
    box.append(text.slice(at));
    for (const long of [...box.querySelectorAll(".cuts")].filter((each) => each.textContent.length > FOLDED)) {
      const button = make("button", { type: "button", textContent: "Show all that was cut here" });
      button.addEventListener("click", (event) => { event.stopPropagation(); long.classList.toggle("folded"); button.remove(); });
      long.classList.add("folded"); long.after(button);
    }
    return box;
  }
  function safeFrame(html) {
    const frame = make("iframe", { title: "Rendered" });
    frame.setAttribute("sandbox", "");
    frame.srcdoc = `<!DOCTYPE html><meta charset="utf-8"><base target="_blank"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">` +
      `<style>body{font:15px/1.6 system-ui,sans-serif;max-width:46em;margin:1em auto;padding:0 1em;overflow-wrap:anywhere}img{max-width:100%}pre{overflow:auto;background:#f4f4f4;padding:.6em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em}blockquote{border-left:3px solid #ccc;margin-left:0;padding-left:1em}</style>${html}`;
    return frame;
  }
  function panel() {
    const box = find("panel"), other = pinned;
    if (tab === "Sections") box.replaceChildren(...list());
    else if (tab === "Text") {
      const bar = modes(["Show what was cut", withCut, () => { withCut = !withCut; panel(); }]);
      if (!state.text && !state.kind.length) box.replaceChildren(make("p", { textContent: "This page has no text." }));
      else if (other) {
        const side = (name, of, against) => make("div", {}, make("h2", { textContent: name }), running(of, against));
        box.replaceChildren(bar, make("div", { className: "sides" }, side("Pinned", other, state), side("Now", state, other)));
      } else box.replaceChildren(bar, running(state));
    } else if (!outputs) { box.replaceChildren(make("p", { className: "quiet", textContent: "…" })); askOutputs(); return; }
    else if (tab === "Markdown" || tab === "HTML") {
      const source = tab === "Markdown" ? outputs.markdown : outputs.html;
      const bar = modes(["Rendered", rendered, () => { rendered = true; panel(); }], ["Source", !rendered, () => { rendered = false; panel(); }]);
      const pre = make("pre", { textContent: source, dir: "auto" });
      box.replaceChildren(bar, rendered ? safeFrame(tab === "Markdown" ? outputs.rendered : outputs.html) : pre);
    } else {
      const rows = tab === "Item" ? Object.entries(outputs.item).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value, null, 1)])
        : [["bytes", data.document.bytes.toLocaleString("en")], ["elements", data.document.elements.toLocaleString("en")], ["model", state.model], ...outputs.facts];
      const table = make("table", { className: "facts" }), body = make("tbody");
      for (const [name, value] of rows) {
        const heading = make("th", { textContent: name }); heading.scope = "row";
        body.append(make("tr", {}, heading, make("td", { textContent: value })));
      }
      table.append(body); box.replaceChildren(table);
    }
    look();
  }
  find("panel").addEventListener("click", (event) => {
    const at = event.target.closest("[data-unit]");
    if (at && Number(at.dataset.unit) >= 0) { select(Number(at.dataset.unit), "panel"); }
  });
  find("panel").addEventListener("mousemove", (event) => { const at = event.target.closest("[data-unit]"); hover(at ? Number(at.dataset.unit) : -1); });
  find("panel").addEventListener("mouseleave", () => hover(-1));
  // The settings that are tried, what the server or the file says of them, gold, keys and all the rest.
  // ---- asking the server ----
  async function askOutputs() { const at = requests, found = await ask("outputs", state.trial); if (found && at === requests) { outputs = found; panel(); } }
  let waiting = null, underWay = false;
  async function attempt(control) {
    if (!data.server) { lookUp(control); return; }
    showControls();
    waiting = trial();
    if (underWay) return;
    underWay = true;
    while (waiting) {
      const values = waiting, begin = performance.now();
      waiting = null; requests += 1;
      const found = await ask("state", values);
      if (!found) break;
      outputs = null;
      become(found);
      document.documentElement.dataset.answered = (performance.now() - begin).toFixed(1);
    }
    underWay = false;
  }

  function become(found) {
    const block = units[selected] && units[selected].blocks[0];
    state = found; arrangeUnits(); paint(); panel(); legend(); showControls(); compare();
    selected = block === undefined ? -1 : unitOf(block); card(); look();
  }

  // ---- a file has no server: what each control does alone was worked out beforehand ----
  let precomputed = null;
  async function unpack() {
    if (data.server || !data.precomputed || !window.DecompressionStream) return;
    const bytes = Uint8Array.from(atob(data.precomputed), (character) => character.charCodeAt(0));
    const { axes, pool, states } = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
    const unpacked = states.map((packed) => ({ ...packed, sections: packed.sections.map((at) => pool[at]), text: packed.text.map((at) => pool[at]).join("\n") }));
    precomputed = Object.fromEntries(Object.entries(axes).map(([name, positions]) => [name, positions.map(([value, at]) => [value, unpacked[at]])]));
    find("model").closest("label").hidden = !precomputed.model;
    find("controls").hidden = false;
    showControls();
    document.documentElement.dataset.precomputed = "yes";
  }
  const CONTROLS = ["model", "favor", "threshold", "penalty", "seen"];
  function lookUp(control) {
    const positions = precomputed && precomputed[control];
    if (!positions) return;
    const begin = performance.now(), at = find(control).value;
    const distance = (value) => (typeof value === "number" ? Math.abs(value - Number(at)) : Number(value !== at));
    const [value, found] = positions.reduce((best, each) => (distance(each[0]) < distance(best[0]) ? each : best));
    reset();
    ownThreshold = control !== "threshold";
    find(control).value = value;
    become(found);
    document.documentElement.dataset.answered = (performance.now() - begin).toFixed(1);
  }
  function reset() {
    ownThreshold = true;
    find("penalty").value = 0; find("seen").value = data.state.trial.pages; find("model").value = data.models[0][0];
    find("favor").value = data.state.trial.favor;
  }

  // ---- settings that are tried ----
  const scale = () => { const at = Number(find("penalty").value); return at <= -21 ? 0 : 10 ** (at / 10); };
  let ownThreshold = true;
  const trial = () => ({ model: find("model").value || null, threshold: ownThreshold ? null : Number(find("threshold").value), penalty: scale(), pages: Number(find("seen").value), favor: find("favor").value });
  function showControls() {
    if (ownThreshold) find("threshold").value = state.ownThreshold;
    find("threshold-value").textContent = ownThreshold ? `${state.ownThreshold.toFixed(2)} (own)` : Number(find("threshold").value).toFixed(2);
    find("penalty-value").textContent = `× ${scale() >= 10 ? scale().toFixed(0) : scale().toPrecision(2)}`;
    find("pages-seen").hidden = !state.total;
    find("seen").max = Math.max(state.total, 1);
    find("seen-value").textContent = `${find("seen").value}${state.seen < state.total ? ` (reading, ${state.seen})` : ""}`;
  }
  function compare() {
    find("pin").setAttribute("aria-pressed", pinned !== null);
    find("pin").textContent = pinned ? "Unpin" : "Pin to compare";
    const ofFile = !data.server && state !== data.state ? "A file tries one setting at a time; its Markdown, HTML and item stay as they were written." : "";
    if (!pinned) { notice([data.notice, ofFile].filter(Boolean).join(" ")); return; }
    let more = 0, less = 0;
    for (const block of differing()) { if (cutAs(block)) less += blockWords[block]; else more += blockWords[block]; }
    const { model, threshold, penalty, pages, favor } = pinned.trial;
    notice(`Against the pinned (${model || "own model"}, favor ${favor}, cut from ${threshold === null ? "its own" : threshold.toFixed(2)}, penalty × ${penalty.toPrecision(2)}, ${pages} pages seen): ` +
      (more || less ? `${more.toLocaleString("en")} words are kept that were not, ${less.toLocaleString("en")} are cut that were kept.` : "the same text."));
  }
  function pin() { pinned = pinned ? null : state; arrangeUnits(); paint(); panel(); compare(); }
  function legend() {
    const words = [0, 0, 0, 0];
    state.kind.forEach((kind, block) => { words[kind] += blockWords[block]; });
    find("legend").replaceChildren(...KINDS.map((kind, at) => {
      const button = make("button", { type: "button", className: kind, title: `Show or hide  ${at + 1}` }, make("i"), `${KIND_NAMES[at]} `, make("span", { className: "quiet", textContent: `${words[at].toLocaleString("en")} words` }));
      button.setAttribute("aria-pressed", shown[at]);
      button.hidden = !words[at] && at > 1;
      button.addEventListener("click", () => toggle(at));
      return button;
    }));
  }
  function toggle(kind) { shown[kind] = !shown[kind]; legend(); paint(); if (tab === "Sections") panel(); }

  // ---- gold ----
  function mark() {
    const unit = units[selected];
    if (!data.collect || !unit || !unit.blocks.length) return;
    for (const block of unit.blocks) unit.marked ? marks.delete(block) : marks.set(block, cutAs(block) ? "content" : "template");
    arrangeUnits(); paint(); panel(); card(); showMarks();
  }
  function showMarks(said = "") {
    find("gold").hidden = !data.collect;
    const words = wordsOf([...marks.keys()]);
    find("marks").textContent = said || (marks.size ? `${words.toLocaleString("en")} words are marked as wrong` : data.known ? "Already saved; mark what is wrong, or save again" : "Nothing is marked as wrong") + ` · ${saved.toLocaleString("en")} in ${data.collect}`;
  }
  async function save() {
    if (!data.collect) return;
    const found = await ask("gold", { trial: state.trial, marks: [...marks] });
    if (!found) return;
    saved = found.saved; data.known = true;
    if (data.number + 1 < data.pages && found.next !== null) { go(found.next); return; }
    showMarks(`Saved; ${saved.toLocaleString("en")} in ${data.collect}`);
  }

  // ---- everything around ----
  Object.assign(KEYS, {
    ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1), Enter: () => look(true),
    Escape: () => select(-1), "/": () => find("search").focus(), b: () => setBlockwise(!blockwise),
    x: mark, s: save, p: () => find("controls").hidden || pin(),
    1: () => toggle(0), 2: () => toggle(1), 3: () => toggle(2), 4: () => toggle(3),
  });
  find("search").addEventListener("input", (event) => { query = event.target.value.toLowerCase(); if (tab !== "Sections") { tab = "Sections"; showTabs(); } panel(); });
  find("pin").addEventListener("click", pin);
  find("save").addEventListener("click", save);
  for (const id of CONTROLS) find(id).addEventListener("input", () => { if (id === "threshold" || id === "favor") ownThreshold = id === "favor"; attempt(id); });
  find("reset").addEventListener("click", () => { reset(); if (data.server) attempt(); else become(data.state); });

  find("where").textContent = [data.document.name, data.document.url].filter((text, at, all) => text && all.indexOf(text) === at && text !== data.document.title).join(" · ");
  find("controls").hidden = !data.server;
  find("model").replaceChildren(...(data.models || []).map(([value, name]) => make("option", { value, textContent: name })));
  find("seen").value = state.trial.pages;
  find("favor").value = state.trial.favor;
  arrangeUnits(); legend(); showTabs(); panel(); card(); showControls(); showMarks(); compare(); openFrame();
  unpack();
  const reading = setInterval(async () => {
    if (!data.server || state.seen >= state.total) { clearInterval(reading); return; }
    const found = await ask("seen", {});
    if (found) { Object.assign(state, found); showControls(); if (state.trial.pages > 0 && !found.busy) attempt(); }
  }, 500);
})();
