/// The style of all pages: one file, light and dark, from the width of a telephone on.
enum StyleSheet {
  static let text = _colours + _frame + _controls + _tables + _parts + pages + _narrow

  private static let _colours = """
    :root {
      color-scheme: light dark;
      --page: #ffffff; --band: #f6f7f9; --line: #e2e5ea; --strong: #c9ced6; --text: #1c2430; --soft: #5b6675;
      --link: #1f5fae; --hover: #f0f5fc; --mark: #fff3bf; --new: #dcf5e3; --bad: #b3261e; --bad-band: #fdecea;
      --good: #1a7f4b; --focus: #2f7bd9; --bar: #a9c4e6; --note: #fff8e1; --note-line: #e8d48a;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #14171c; --band: #1b1f26; --line: #2a303a; --strong: #414a58; --text: #dfe4ec; --soft: #98a3b3;
        --link: #82b4f0; --hover: #1d2733; --mark: #4a4113; --new: #17392a; --bad: #ff8a80; --bad-band: #3a1c1a;
        --good: #62c993; --focus: #6aa9f5; --bar: #3d5f88; --note: #2c2712; --note-line: #5a4d1c;
      }
    }

    """

  private static let _frame = """
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html { -webkit-text-size-adjust: 100%; }
    body {
      margin: 0; background: var(--page); color: var(--text); display: flex; flex-direction: column; min-height: 100vh;
      font: 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
    }
    code, pre, .hex, #where { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12px; }
    a { color: var(--link); text-decoration: none; }
    a:hover, p a, h2 a, li > span a, .kind a, .origin a { text-decoration: underline; text-underline-offset: 2px; }
    :focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; border-radius: 3px; }
    main:focus { outline: none; }
    .skip { position: absolute; left: -999px; top: 4px; background: var(--page); padding: 4px 10px; z-index: 9; }
    .skip:focus { left: 8px; }
    header.top {
      display: flex; align-items: center; gap: 18px; padding: 0 16px; background: var(--band);
      border-bottom: 1px solid var(--line); min-height: 40px; flex-wrap: wrap;
    }
    .store { font-weight: 600; color: var(--text); max-width: 40ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    header nav ul { display: flex; gap: 2px; list-style: none; margin: 0; padding: 0; }
    header nav a { display: block; padding: 10px 9px 9px; color: var(--soft); border-bottom: 2px solid transparent; }
    header nav a:hover { color: var(--text); text-decoration: none; }
    header nav a[aria-current] { color: var(--text); border-color: var(--link); }
    .mode { margin-left: auto; color: var(--soft); font-size: 12px; }
    .mode.edit { color: var(--good); }
    .live { color: var(--good); font-size: 12px; border: 0; background: none; padding: 4px 6px; }
    .live::before { content: ""; display: inline-block; width: 7px; height: 7px; border-radius: 50%; background: var(--good); margin-right: 5px; }
    .live.off { color: var(--soft); } .live.off::before { background: var(--strong); }
    main { padding: 16px; flex: 1; width: 100%; max-width: 1280px; }
    main.wide { max-width: none; }
    main.bare { max-width: 46em; margin: 12vh auto; }
    footer.bottom { padding: 8px 16px; color: var(--soft); font-size: 11px; border-top: 1px solid var(--line); display: flex; gap: 16px; }
    h1 { font-size: 19px; line-height: 1.25; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
    h2 { font-size: 14px; font-weight: 600; margin: 22px 0 8px; }
    h3 { font-size: 13px; font-weight: 600; margin: 14px 0 6px; }
    p { margin: 6px 0; max-width: 80ch; }
    .heading { display: flex; gap: 6px 12px; align-items: baseline; flex-wrap: wrap; margin-bottom: 10px; }
    .grow { flex: 1; }
    .count, .kind, .type { color: var(--soft); }
    .note { background: var(--note); border: 1px solid var(--note-line); padding: 6px 10px; border-radius: 5px; max-width: none; }
    .facts { display: flex; flex-wrap: wrap; gap: 4px 28px; margin: 8px 0 16px; }
    .facts div { display: flex; gap: 8px; } .facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }

    """

  private static let _controls = """
    input, select, textarea, button, .button {
      font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--strong); border-radius: 5px; padding: 4px 9px;
    }
    button, .button { cursor: pointer; display: inline-block; white-space: nowrap; line-height: 1.45; background: var(--band); }
    button:hover, .button:hover { background: var(--hover); text-decoration: none; }
    .button.off { color: var(--soft); opacity: .55; cursor: default; background: none; }
    button.primary { background: var(--link); border-color: var(--link); color: var(--page); }
    button.danger { color: var(--bad); }
    .actions { display: flex; gap: 6px; flex-wrap: wrap; align-items: center; }
    .filter { display: flex; gap: 6px 8px; align-items: center; flex-wrap: wrap; margin-bottom: 12px; }
    .filter label { color: var(--soft); }
    .filter select { max-width: min(100%, 40ch); text-overflow: ellipsis; } .filter .wide { flex: 1 1 240px; max-width: 520px; }
    .find { flex: 0 1 200px; } .find input { width: 100%; padding: 3px 9px; }
    .completing { position: relative; flex: 1 1 340px; max-width: 820px; }
    #where { width: 100%; }
    [aria-invalid="true"] { border-color: var(--bad); }
    .options {
      position: absolute; left: 0; top: calc(100% + 2px); z-index: 5; margin: 0; padding: 4px; list-style: none; min-width: 240px;
      max-height: 280px; overflow: auto; background: var(--page); border: 1px solid var(--strong); border-radius: 6px;
      box-shadow: 0 6px 20px rgba(0, 0, 0, .18);
    }
    .options li { padding: 3px 8px; border-radius: 4px; display: flex; gap: 16px; cursor: pointer; }
    .options li span { color: var(--soft); margin-left: auto; }
    .options li[aria-selected="true"] { background: var(--hover); }
    .problem { background: var(--bad-band); color: var(--bad); padding: 6px 10px; border-radius: 5px; flex-basis: 100%; overflow-x: auto; }
    .problem p { margin: 0; max-width: none; }
    pre.caret { margin: 6px 0 0; } pre.caret b { font-weight: 700; }
    details > summary { cursor: pointer; color: var(--soft); }
    details > summary:hover { color: var(--text); }
    .columns { position: relative; } .columns summary { padding: 4px 6px; }
    .columns fieldset {
      position: absolute; right: 0; z-index: 4; width: min(520px, 88vw); background: var(--page); border: 1px solid var(--strong);
      border-radius: 6px; padding: 10px 14px; box-shadow: 0 6px 20px rgba(0, 0, 0, .18); max-height: 70vh; overflow: auto;
    }
    .columns legend { float: left; color: var(--soft); margin-bottom: 6px; } .columns legend + * { clear: both; }
    .boxes { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 2px 10px; margin-bottom: 8px; }
    .columns label { display: flex; gap: 6px; align-items: center; color: var(--text); overflow-wrap: anywhere; }
    .columns label.paths { display: block; color: var(--soft); margin-bottom: 8px; } .paths input { width: 100%; margin-top: 3px; }

    """

  private static let _tables = """
    .scroll { overflow-x: auto; max-width: 100%; }
    .grid { border-collapse: collapse; font-variant-numeric: tabular-nums; }
    .grid th, .grid td { text-align: left; padding: 3px 12px 3px 8px; border-bottom: 1px solid var(--line); vertical-align: top; }
    .grid thead td { background: var(--band); border-bottom-color: var(--strong); }
    .grid thead th {
      position: sticky; top: 0; background: var(--band); color: var(--soft); font-weight: 500; white-space: nowrap;
      border-bottom-color: var(--strong); z-index: 1;
    }
    .grid thead a { color: inherit; display: inline-block; }
    .grid [aria-sort] a { color: var(--text); }
    .grid [aria-sort="ascending"] a::after { content: " \\2191"; } .grid [aria-sort="descending"] a::after { content: " \\2193"; }
    .grid tbody th { font-weight: 400; white-space: nowrap; }
    .grid tbody tr:hover { background: var(--hover); }
    .grid .num { text-align: right; }
    .grid.objects td { max-width: 340px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    .id { color: var(--soft); font-variant-numeric: tabular-nums; }
    .nil { color: var(--soft); font-style: italic; }
    .bad { color: var(--bad); }
    .yes { color: var(--good); } .no { color: var(--soft); }
    .bar { width: 120px; min-width: 60px; } svg.share { width: 100%; height: 6px; fill: var(--bar); vertical-align: middle; }
    .depth1 { padding-left: 24px !important; } .depth2 { padding-left: 40px !important; } .depth3 { padding-left: 56px !important; }
    .depth4, .depth5, .depth6 { padding-left: 72px !important; }
    .pager { display: flex; gap: 6px; align-items: center; flex-wrap: wrap; margin-top: 12px; }
    .range { padding: 0 6px; font-variant-numeric: tabular-nums; }
    .none { color: var(--soft); padding: 24px 0; }
    .record { border-collapse: collapse; width: 100%; }
    .record th, .record td { text-align: left; vertical-align: top; padding: 5px 16px 5px 0; border-bottom: 1px solid var(--line); }
    .record th { font-weight: 500; width: 16%; min-width: 110px; overflow-wrap: anywhere; }
    .record .type { width: 18%; min-width: 100px; font-size: 12px; } .record .value { overflow-wrap: anywhere; }
    .prose { white-space: pre-wrap; max-height: 420px; overflow: auto; max-width: 90ch; }
    .hex { overflow: auto; max-height: 320px; background: var(--band); padding: 8px 10px; border-radius: 5px; margin: 6px 0; }
    .outline ul { margin: 0; padding-left: 18px; } .outline .key { color: var(--soft); }
    img.blob { max-width: min(420px, 100%); max-height: 320px; border: 1px solid var(--line); border-radius: 5px; display: block; }
    .members { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 3px 16px; }
    .members li { max-width: 320px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    details.section { margin-top: 22px; } details.section > summary { font-weight: 600; font-size: 14px; margin-bottom: 8px; }
    [data-row].new > * { animation: fresh 6s ease-out; } [data-row].changed > * { animation: altered 6s ease-out; }
    [data-row].new > :first-child::after { content: " new"; color: var(--good); font-size: 11px; }
    [data-row].changed > :first-child::after { content: " changed"; color: var(--soft); font-size: 11px; }
    @keyframes fresh { from { background: var(--new); } } @keyframes altered { from { background: var(--mark); } }
    @media (prefers-reduced-motion: reduce) { [data-row].new > *, [data-row].changed > * { animation: none; } }

    """

  private static let _parts = """
    .diagram { border: 1px solid var(--line); border-radius: 6px; padding: 8px; background: var(--page); }
    .diagram svg { display: block; max-width: none; }
    svg.graph a:hover .box { stroke: var(--link); stroke-width: 2; }
    svg.graph a { outline-offset: 3px; }
    .visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

    """

  private static let _narrow = """
    @media (max-width: 640px) {
      main { padding: 12px; } header.top { padding: 0 12px; gap: 8px 12px; }
      .store { padding-top: 8px; flex-basis: 100%; max-width: 100%; } .mode { margin-left: auto; }
      header nav a { padding: 7px 6px; }
      .record, .record tbody, .record tr, .record th, .record td { display: block; width: auto !important; }
      .record tr { border-bottom: 1px solid var(--line); padding: 6px 0; } .record th, .record td { border: 0; padding: 1px 0; }
      .find { flex: 1 1 140px; padding-bottom: 8px; } .completing { flex-basis: 100%; } .pager .kind { flex-basis: 100%; }
      .columns fieldset { position: static; width: 100%; box-shadow: none; margin-top: 6px; } .columns { flex-basis: 100%; }
    }

    """
}
