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
      make("span", { textContent: unit.kind ? REASONS[unit.reason] || unit.reason : `${wordsOf(unit.blocks).toLocaleString("en")} words kept` }))];
    if (data.collect && unit.blocks.length) {
      const wrong = make("button", { type: "button", textContent: unit.marked ? "It is right after all" : "This is wrong" });
      wrong.title = "x"; wrong.addEventListener("click", mark);
      parts[0].append(wrong);
    }
    const meters = make("div", { className: "meter" });
    meters.append(...meter("page alone", unit.raw));
    if (unit.on !== null) meters.append(...meter("with the site", unit.moved));
    meters.append(...meter(state.tried.smooth ? "after smoothing" : "as decided", unit.score, state.threshold));
    parts.push(meters);
    if (unit.on !== null) parts.push(make("p", { textContent: `Its text is on ${unit.on} of ${Math.min(state.tried.pages, state.seen)} pages of the site that were seen.` }));
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
  const weightKey = (unit) => `${state.tried.model} ${unit.blocks.join(",")}`;
  async function askWeights(unit) {
    const name = weightKey(unit);
    if (!data.server || !unit.blocks.length) return;
    weights.set(name, []);
    const answer = await ask("weights", { tried: state.tried, blocks: unit.blocks });
    if (answer) { weights.set(name, answer.weights); if (units[selected] && weightKey(units[selected]) === name) card(); }
  }
