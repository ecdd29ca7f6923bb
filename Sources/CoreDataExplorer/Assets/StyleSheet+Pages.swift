extension StyleSheet {
  /// History, SQL, model, check, and the pages that modify the store.
  static let pages = """
    .timeline { margin: 10px 0 16px; } .timeline svg { width: 100%; height: 48px; display: block; border-bottom: 1px solid var(--strong); }
    .timeline rect { fill: var(--bar); } .timeline a:hover rect, .timeline a:focus rect { fill: var(--link); }
    .timeline figcaption { display: flex; justify-content: space-between; color: var(--soft); font-size: 11px; margin-top: 3px; }
    .timeline.tall svg { height: 64px; } .timeline .reach { fill: transparent; } .timeline a:hover .reach { fill: var(--hover); }
    .timeline .actions { margin-top: 8px; } .timeline[data-axis] svg { cursor: crosshair; touch-action: pan-y; }
    .timeline .picked { fill: var(--mark); opacity: .6; pointer-events: none; }
    .hit { border-top: 1px solid var(--line); padding: 8px 0; } .hit h2 { margin: 0 0 2px; font-size: 13px; }
    .hit h2 .kind { font-weight: 400; } .hit ul { list-style: none; margin: 0; padding: 0; } .hit li { overflow-wrap: anywhere; }
    mark { background: var(--mark); color: var(--text); border-radius: 2px; }
    .facet { padding: 0 4px; text-decoration: none !important; } .grid thead .facet { color: var(--soft); }
    .facet-value { max-width: 60ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    img.thumbnail { max-width: 64px; max-height: 40px; display: block; border-radius: 3px; }
    details.empty { margin-top: 8px; }
    .zoom { display: flex; gap: 6px; margin-bottom: 6px; }
    .transactions article { border-top: 1px solid var(--line); padding: 8px 0; }
    .transactions h2 { margin: 0; font-size: 13px; } .transactions time { font-weight: 400; color: var(--soft); margin-left: 6px; }
    .origin { display: flex; flex-wrap: wrap; gap: 2px 12px; color: var(--soft); } .origin b { color: var(--text); font-weight: 600; }
    .tally { font-variant-numeric: tabular-nums; margin-right: 8px; font-weight: 500; font-size: 12px; }
    .tally.inserted, .changes .inserted .sign { color: var(--good); } .tally.deleted, .changes .deleted .sign { color: var(--bad); }
    .changes { list-style: none; margin: 4px 0 0; padding: 0; } .changes li { overflow-wrap: anywhere; }
    .changes .sign { display: inline-block; width: 1.4em; color: var(--soft); font-weight: 600; }
    .gone { text-decoration: line-through; color: var(--soft); }
    .sql { background: var(--band); border: 1px solid var(--line); border-radius: 6px; padding: 10px 12px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; margin: 8px 0; }
    .sql b { color: var(--link); font-weight: 600; }
    .plan, .plan ul { list-style: none; margin: 0; padding: 0; } .plan ul { margin-left: 9px; padding-left: 14px; border-left: 1px solid var(--strong); }
    .plan li { padding: 3px 0; }
    .badge { display: inline-block; font-size: 11px; padding: 0 7px; border-radius: 9px; border: 1px solid var(--strong); color: var(--soft); margin-right: 8px; font-weight: 400; }
    .good > .badge { color: var(--good); border-color: currentColor; } .slow > .badge, .badge.slow { color: var(--bad); border-color: currentColor; }
    .advice, .findings, .indexes { margin: 4px 0; padding-left: 18px; } .indexes { color: var(--soft); }
    .entity { scroll-margin-top: 8px; } .entity .scroll { margin-bottom: 8px; } .entity-index { margin: 12px 0; }
    .finding { border-top: 1px solid var(--line); padding-bottom: 8px; }
    .field { display: grid; grid-template-columns: 16% 18% 1fr; gap: 4px 12px; padding: 6px 0; border-bottom: 1px solid var(--line); align-items: start; }
    .field > label { font-weight: 500; padding-top: 4px; overflow-wrap: anywhere; } .field > .type { padding-top: 5px; font-size: 12px; }
    .entry { position: relative; display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; } .entry p { margin: 4px 0; }
    .entry input[type="text"], .entry textarea { flex: 1 1 300px; max-width: 640px; width: 100%; } .entry textarea { resize: vertical; }
    .message { color: var(--bad); flex-basis: 100%; margin: 0 !important; } .wrong { background: var(--bad-band); }
    .nil-box { color: var(--soft); display: flex; gap: 5px; align-items: center; }
    .edit .actions, main > .actions { margin-top: 14px; }
    .change { border-top: 1px solid var(--line); padding: 4px 0 8px; } .change h2 { margin: 8px 0 4px; }
    .diff del { text-decoration: none; background: var(--bad-band); } .diff ins { text-decoration: none; background: var(--new); }
    .diff .value { width: 42%; } .done { color: var(--good); }
    .conflict { border: 1px solid var(--bad); border-radius: 6px; padding: 4px 14px 12px; margin-bottom: 14px; overflow-x: auto; }
    .conflict .actions { margin-top: 10px; }
    .conflict caption { text-align: left; font-weight: 600; padding: 6px 0 2px; } .contested { color: var(--bad); } .contested .badge { margin-left: 8px; }
    @media (max-width: 640px) { .field { grid-template-columns: 1fr; } .diff thead { display: none; } }

    """
}
