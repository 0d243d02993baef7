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
    if (!rows.children.length) return [blocksButton(), make("p", { textContent: state.sections.length ? "Nothing matches." : "This page has no sections: it has no text, or was passed through." })];
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
