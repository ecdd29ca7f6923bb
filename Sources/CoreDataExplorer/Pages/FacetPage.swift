import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataToolKit

/// The values of a column: the most frequent ones, and how numbers and dates are spread; each leads to its rows.
struct FacetPage {
  private let _visit: Visit
  private let _entity: PropertyLayout
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) throws {
    _visit = visit
    _entity = try visit.entity("name")
  }

  func answer() throws -> HTTPResponse {
    let request = try TableRequest(_visit.request, entity: _entity, in: _store)
    let path: PropertyPath
    do {
      path = try PropertyPath(_visit.request.query("column") ?? "", of: _entity, in: _store.layout)
    } catch {
      throw TableRequest.Problem(field: .columns, description: "\(error)")
    }
    let facet = try _store.readers.read(_visit.budget) {
      try FacetReading(path, request, _store, $0)
    }
    var content = [_heading(path, request, facet)]
    if let histogram = facet.histogram { content.append(_histogram(histogram, path, request)) }
    content.append(_values(facet, path, request))
    return PageFrame(_visit, title: "\(_title(path)) of \(_entity.entityName)").answer(content)
  }

  private func _title(_ path: PropertyPath) -> String {
    if case .identity = path.kind { "Entities" } else { path.text }
  }

  private func _heading(_ path: PropertyPath, _ request: TableRequest, _ facet: FacetReading) -> HTML {
    let objects =
      Amount.text(facet.rowCount, "object") + (facet.isPart ? ", the first that meet the filter" : "")
    return .tag(
      "div", ["class": "heading"],
      .tag("h1", [:], HTML.name(_title(path)), " of ", HTML.name(_entity.entityName)),
      .tag("span", ["class": "count"], HTML(objects)),
      request.filter.map { .tag("span", ["class": "kind"], "where ", .tag("code", [:], HTML($0))) } ?? .empty,
      .tag("span", ["class": "grow"]), .link(request.place, class: "button", "Back to the table"))
  }

  /// The table with a further condition.
  private func _rows(_ condition: String, _ request: TableRequest) -> Place {
    request.place.with("where", request.filter.map { "(\($0)) AND \(condition)" } ?? condition)
  }

  // MARK: Values

  private func _values(_ facet: FacetReading, _ path: PropertyPath, _ request: TableRequest) -> HTML {
    let most = max(1, facet.values.map(\.count).max() ?? 1)
    let rows = facet.values.map { value -> HTML in
      let shown: HTML
      if case .identity = path.kind, case .text(let name, _) = value.cell, _store.entity(name) != nil {
        shown = .link(request.place.with("name", name).with("exact", "1"), HTML.name(name))
      } else {
        shown =
          value.condition.map {
            .tag("a", ["href": _rows($0, request).address], CellView.plainText(value.cell))
          }
          ?? CellView.short(value.cell)
      }
      return .tag(
        "tr", [:], .tag("th", ["scope": "row", "class": "facet-value"], shown),
        .tag("td", ["class": "num"], HTML(Amount.text(value.count))),
        .tag("td", ["class": "bar"], EntitiesPage.bar(value.count, of: most)))
    }
    if rows.isEmpty { return .tag("p", ["class": "none"], "There are no objects.") }
    let rest: HTML =
      facet.hasMoreValues
      ? .tag(
        "p", ["class": "kind"], HTML("The \(FacetReading.mostValues) most frequent values; there are more."))
      : .empty
    return .tag(
      "div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Values"],
      .tag(
        "table", ["class": "grid"],
        .tag(
          "thead", [:],
          .tag(
            "tr", [:], .tag("th", ["scope": "col"], "Value"),
            .tag("th", ["scope": "col", "class": "num"], "Objects"),
            .tag("td"))),
        .tag("tbody", [:], rows))) + rest
  }

  // MARK: Histogram

  private func _histogram(
    _ histogram: FacetReading.Histogram, _ path: PropertyPath, _ request: TableRequest
  ) -> HTML {
    var isDate = false
    var isWhole = false
    if case .attribute(let attribute) = path.kind {
      isDate = attribute.type == .date
      isWhole = [.integer16, .integer32, .integer64].contains(attribute.type.form)
    }
    func literal(_ number: Double) -> String { isDate ? "'\(ISODate.text(number))'" : Cell.text(of: number) }
    func shown(_ number: Double) -> String { isDate ? ISODate.shown(number) + " UTC" : Cell.text(of: number) }
    let last = histogram.counts.count - 1
    let bars = histogram.counts.enumerated().map { index, count -> BarFigure.Bar? in
      guard count > 0 else { return nil }
      var begin = histogram.least + Double(index) * histogram.width
      var end = index == last ? histogram.greatest : begin + histogram.width
      if isWhole { (begin, end) = (begin.rounded(.up), index == last ? end : end.rounded(.up)) }
      let condition =
        "\(path.text) >= \(literal(begin)) AND \(path.text) \(index == last ? "<=" : "<") \(literal(end))"
      let words = "\(Amount.text(count, "object")) from \(shown(begin)) to \(shown(end))"
      return BarFigure.Bar(count: count, words: words, place: _rows(condition, request))
    }
    return .tag(
      "figure", ["class": "timeline tall"],
      BarFigure(label: "How the values are spread", bars: bars).html,
      .tag(
        "figcaption", [:], .tag("span", [:], HTML(shown(histogram.least))),
        .tag("span", [:], HTML("mean \(shown(histogram.mean))")),
        .tag("span", [:], HTML(shown(histogram.greatest)))))
  }
}
