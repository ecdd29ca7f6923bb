/// The style of pages: light and dark, wide and narrow, without anything from elsewhere.
enum ReportStyle {
  static let text = """
    :root { --text: #1d2126; --quiet: #5d6670; --page: #ffffff; --line: #d9dee4; --lane: #f1f3f6;
      --main: #2769d8; --background: #9aa3ad; --save: #1d2126; --bad: #c62f2f; --floor: #17864b; }
    @media (prefers-color-scheme: dark) {
      :root { --text: #e6e9ed; --quiet: #9aa4af; --page: #15181c; --line: #363d45; --lane: #20252b;
        --main: #5b97ff; --background: #7b858f; --save: #e6e9ed; --bad: #ff7b72; --floor: #4cc38a; } }
    body { margin: 0; background: var(--page); color: var(--text);
      font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
    main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 48px; }
    h1 { font-size: 28px; line-height: 1.2; margin: 0 0 8px; }
    h2 { font-size: 19px; line-height: 1.3; margin: 36px 0 2px; }
    h2 code { font-size: 14px; font-weight: 400; color: var(--quiet); margin-left: 6px; }
    p { margin: 0 0 12px; color: var(--quiet); max-width: 76ch; }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
    th, td { padding: 6px 7px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
    thead th { font-weight: 500; color: var(--quiet); vertical-align: bottom; }
    tr:first-child th:first-child, tbody th { text-align: left; padding-left: 0; }
    thead th.group { text-align: center; border-bottom: 0; padding-bottom: 0; }
    ul.verdict { margin: 0 0 18px; padding-left: 20px; max-width: 76ch; }
    @media (max-width: 560px) { main { padding: 20px 14px 36px; } dl { display: block !important; }
      dd { margin-bottom: 8px; } .legend span { display: block; } }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 20px; font-size: 14px; margin: 10px 0 0; }
    dt { font-weight: 600; }
    dd { margin: 0; color: var(--quiet); max-width: 76ch; }
    tbody th { font-weight: 600; }
    .bad { color: var(--bad); font-weight: 600; }
    a.why { font-size: 13px; color: var(--quiet); }
    dt:target + dd { outline: 2px solid var(--main); outline-offset: 4px; }
    abbr { text-decoration: none; font-size: 10px; vertical-align: 1px; }
    .scroll:focus-visible { outline: 2px solid var(--main); outline-offset: 2px; }
    .legend { margin: 28px 0 0; font-size: 14px; max-width: none; }
    .legend span { display: inline-block; margin-right: 22px; }
    .legend i { display: inline-block; width: 14px; height: 12px; margin-right: 7px; vertical-align: -1px; }
    .legend i.main { background: var(--main); }
    .legend i.background { background: var(--background); }
    .legend i.save { width: 2px; background: var(--save); }
    .legend i.dropped { height: 3px; vertical-align: 4px; background: var(--bad); }
    .legend i.floor { width: 0; border-left: 2px dashed var(--floor); }
    .legend i.first { width: 9px; height: 9px; border-radius: 50%; background: var(--main); }
    .legend i.busy { width: 9px; height: 9px; background: var(--background); }
    .legend i.wait { height: 2px; vertical-align: 4px; background: var(--background); }
    .legend i.frame { width: 0; border-left: 2px dashed var(--bad); }
    h3 { font-size: 16px; margin: 26px 0 4px; }
    .screen svg { min-width: 560px; max-width: 800px; margin-bottom: 6px; }
    svg .rule { stroke: var(--line); fill: none; }
    svg .wait { stroke: var(--background); stroke-width: 2; fill: none; }
    svg .busy { fill: var(--background); }
    svg .first { fill: var(--main); }
    svg .frame { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
    svg { display: block; width: 100%; min-width: 640px; height: auto; }
    svg text { font: 13px system-ui, sans-serif; fill: var(--quiet); }
    svg text.axis { font-size: 12px; }
    svg .lane { fill: var(--lane); }
    svg path.main { fill: var(--main); }
    svg path.background { fill: var(--background); }
    svg .save { stroke: var(--save); stroke-width: 1; fill: none; }
    svg .dropped { stroke: var(--bad); stroke-width: 3; fill: none; }
    svg path.axis { stroke: var(--quiet); fill: none; }
    svg .floor { stroke: var(--floor); stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
    .legend i.fetch { background: var(--main); }
    .legend i.fault { background: #d98a1f; }
    .legend i.saving { background: var(--floor); }
    .legend i.merge { background: #9a5bd0; }
    svg .fetch { fill: var(--main); }
    svg .fault { fill: #d98a1f; }
    svg .saving { fill: var(--floor); }
    svg .merge { fill: #9a5bd0; }
    td.words, th.words { text-align: left; white-space: normal; min-width: min(260px, 38vw); overflow-wrap: anywhere; }
    pre { font-size: 13px; overflow-x: auto; background: var(--lane); padding: 10px 12px; margin: 4px 0 14px; }
    footer { margin-top: 40px; border-top: 1px solid var(--line); padding-top: 16px; font-size: 14px; }
    """
}
