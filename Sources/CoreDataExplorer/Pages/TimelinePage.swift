import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit

/// Every date of every object, and the history's transactions: an axis with counts, and the events of a part of it.
struct TimelinePage {
  private let _visit: Visit
  private let _entity: PropertyLayout?
  private let _from: Double?
  private let _to: Double?
  private let _offset: Int
  private var _store: ExploredStore { _visit.store }

  private static let _rows = 100
  /// Events that a page may skip; beyond them one zooms in.
  private static let _mostSkipped = 20_000

  init(_ visit: Visit) throws {
    _visit = visit
    let name = visit.request.query("entity") ?? ""
    _entity = name.isEmpty ? nil : try visit.entity("entity")
    func moment(_ field: String) throws -> TypedMoment? {
      guard let text = visit.request.query(field), !text.isEmpty else { return nil }
      guard let moment = TypedMoment(text, in: .utc) else {
        throw TableRequest.Problem(
          field: .page,
          description: "'\(text.prefix(80))' is no date. Write 2021, 2021-03, 2021-03-07 or 2021-03-07 14:05."
        )
      }
      return moment
    }
    _from = try moment("from")?.begin
    _to = try moment("to")?.end
    _offset = max(0, min(visit.request.query("skip").flatMap(Int.init) ?? 0, Self._mostSkipped))
  }

  func answer() throws -> HTTPResponse {
    let frame = PageFrame(_visit, title: "Timeline", part: .timeline)
    let page = self
    return PageStream.answer(frame, _visit.budget) { stream in
      try stream.write(.tag("div", ["class": "heading"], .tag("h1", [:], "Timeline")) + page._form)
      try page._write(stream)
    }
  }

  private func _write(_ page: PageStream) throws {
    try _store.readers.read(_visit.budget) { reader in
      let reading = try TimelineReading(reader, _entity)
      if let _from, let _to, _from > _to {
        try page.write(.tag("p", ["class": "problem", "role": "alert"], "The end is before the beginning."))
        return
      }
      guard !reading.isEmpty, let (axis, others) = try reading.axis(from: _from, to: _to) else {
        try page.write(.tag("p", ["class": "none"], "There are no dates."))
        return
      }
      try page.write(_axis(axis, others))
      let events = try reading.events(
        from: axis.begin, to: _to ?? axis.end, after: _offset, limit: Self._rows + 1)
      try page.write(try _list(Array(events.prefix(Self._rows)), reader))
      try page.write(_pager(axis, events.count > Self._rows, events.count))
    }
  }

  private func _place(_ from: Double?, _ to: Double?) -> Place {
    Place(
      "/timeline",
      [
        "entity": _entity?.entityName, "from": from.map(ISODate.text), "to": to.map(ISODate.text),
      ])
  }

  // MARK: Form

  private var _form: HTML {
    func field(_ name: String, _ label: HTML, _ value: String?) -> HTML {
      .tag("label", ["for": name], label)
        + .void(
          "input",
          [
            "id": name, "name": name, "type": "text", "value": value ?? "", "placeholder": "2021-03-07",
            "autocomplete": "off", "size": "22",
          ])
    }
    return .tag(
      "form", ["class": "filter", "method": "get", "action": "/timeline"],
      .tag("label", ["for": "entity"], "Entity"),
      EntityMenu.html(
        _store.layout.layouts, all: "all, and transactions", chosen: _entity?.entityName),
      field("from", "From", _visit.request.query("from")), field("to", "to", _visit.request.query("to")),
      .tag("button", ["type": "submit"], "Show"),
      _from == nil && _to == nil ? .empty : .link(_place(nil, nil), class: "button", "All"))
  }

  // MARK: Axis

  private func _axis(_ axis: TimelineReading.Axis, _ others: Int) -> HTML {
    let bars = axis.counts.enumerated().map { index, count -> BarFigure.Bar? in
      guard count > 0 else { return nil }
      let begin = axis.begin + Double(index) * axis.width
      // The last moment of a part is not the first of the next one.
      let end = index == axis.counts.count - 1 ? axis.end : (begin + axis.width).nextDown
      let words = "\(Amount.text(count, "event")) from \(ISODate.shown(begin)) to \(ISODate.shown(end)) UTC"
      return BarFigure.Bar(count: count, words: words, place: _place(begin, end))
    }
    var steps: [HTML] = []
    let length = axis.end - axis.begin
    func step(_ text: HTML, _ from: Double, _ to: Double) {
      steps.append(.link(_place(from, to), class: "button", text))
    }
    if _from != nil || _to != nil {
      step("Earlier", axis.begin - length, axis.begin)
      step("Zoom out", axis.begin - length / 2, axis.end + length / 2)
      step("Later", axis.end, axis.end + length)
    }
    var notes: [HTML] = [HTML(Amount.text(axis.total, "event"))]
    if others > 0 {
      notes.append(
        HTML(
          "; \(Amount.text(others)) before 1970 or after 2100 are shown only if 'From' and 'to' say so"))
    }
    return .tag(
      "figure",
      [
        "class": "timeline tall", "data-axis": "", "data-begin": String(axis.begin),
        "data-end": String(axis.end),
        "data-entity": _entity?.entityName,
      ],
      BarFigure(label: "Events over time", bars: bars).html,
      .tag("figcaption", [:], _moment(axis.begin), .tag("span", [:], notes), _moment(axis.end)),
      steps.isEmpty ? .empty : .tag("div", ["class": "actions"], steps))
  }

  private func _moment(_ seconds: Double) -> HTML { CellView.date(seconds) }

  // MARK: Events

  private func _list(_ events: [TimelineReading.Event], _ reader: StoreReader) throws -> HTML {
    guard !events.isEmpty else { return .tag("p", ["class": "none"], "There are no events here.") }
    var links: [StoredReference: ObjectLink] = [:]
    let members = MemberQuery(_store, reader)
    let objects = Set(events.filter { $0.transaction == nil }.map(\.reference))
    for (entity, group) in Dictionary(grouping: objects, by: \.entity) {
      for link in try members.links(_store.layout.layout(numbered: entity), group.map(\.key)) {
        links[StoredReference(entity: entity, key: link.key)] = link
      }
    }
    let text = ValueText(_store.layout)
    let rows = events.map { event -> HTML in
      let object: HTML
      if let number = event.transaction {
        object = .link(Place("/history", ["before": String(number &+ 1)]), HTML("transaction \(number)"))
      } else {
        object =
          links[event.reference].map { link in
            CellView.object(link) + .tag("span", ["class": "kind"], HTML("  \(link.identifier)"))
          } ?? HTML(text.identifier(event.reference))
      }
      return .tag(
        "tr", [:], .tag("th", ["scope": "row"], CellView.date(event.moment)),
        .tag("td", [:], HTML(event.property)),
        .tag("td", [:], object))
    }
    return .tag(
      "div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Events"],
      .tag(
        "table", ["class": "grid"],
        .tag(
          "thead", [:],
          .tag(
            "tr", [:], ["Moment (UTC)", "Property", "Object"].map { .tag("th", ["scope": "col"], HTML($0)) })),
        .tag("tbody", [:], rows)))
  }

  private func _pager(_ axis: TimelineReading.Axis, _ hasMore: Bool, _ count: Int) -> HTML {
    var place = Place("/timeline", ["entity": _entity?.entityName])
    for field in ["from", "to"] { place = place.with(field, _visit.request.query(field)) }
    func step(_ text: String, _ skip: Int?) -> HTML {
      skip.map { .link(place.with("skip", $0 == 0 ? nil : String($0)), class: "button", HTML(text)) }
        ?? .tag("span", ["class": "button off", "aria-disabled": "true"], HTML(text))
    }
    let next = _offset + Self._rows
    return .tag(
      "nav", ["class": "pager", "aria-label": "Pages"],
      step("Previous", _offset > 0 ? max(0, _offset - Self._rows) : nil),
      .tag(
        "span", ["class": "range"],
        HTML(
          count == 0
            ? ""
            : "\(Amount.text(_offset + 1))–\(Amount.text(_offset + min(count, Self._rows))) of \(Amount.text(axis.total))"
        )),
      step("Next", hasMore && next <= Self._mostSkipped ? next : nil),
      hasMore && next > Self._mostSkipped
        ? .tag("span", ["class": "kind"], "Choose a shorter time to see more.") : .empty)
  }
}
