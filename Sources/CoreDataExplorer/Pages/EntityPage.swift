import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import Foundation

/// The objects of an entity as a table, by pages.
struct EntityPage {
  private let _visit: Visit
  private let _entity: PropertyLayout
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) throws {
    _visit = visit
    _entity = try visit.entity("name")
  }

  func answer() throws -> HTTPResponse {
    do {
      let request = try TableRequest(_visit.request, entity: _entity, in: _store)
      do {
        return _answer(request, try TablePage(request, _store, _visit.budget), nil)
      } catch  where request.filter != nil && !_isOver(error) {
        // An untranslatable filter is reported like an invalid one.
        let message = (error as? CocoaError)?.debugText ?? "\(error)"
        return _answer(request, nil, TableRequest.Problem(field: .filter, description: message))
      }
    } catch let problem as TableRequest.Problem {
      return _answer(nil, nil, problem)
    }
  }

  private func _isOver(_ error: any Error) -> Bool {
    error is QueryBudget.Exceeded || error is ReaderPool.Busy
  }

  private func _answer(
    _ request: TableRequest?, _ page: TablePage?, _ problem: TableRequest.Problem?
  ) -> HTTPResponse {
    let tools = EntityTools(_visit, _entity, request, problem)
    var content: [HTML] = [tools.heading(page), tools.filter]
    if let request, let page {
      content += [_table(request, page), TablePager(request, page).html]
    }
    return PageFrame(_visit, title: _entity.entityName, isLive: problem == nil, isWide: true)
      .answer(status: problem == nil ? 200 : 400, content)
  }

  // MARK: Table

  private func _table(_ request: TableRequest, _ page: TablePage) -> HTML {
    let numeric = request.columns.indices.map { index in
      page.rows.contains { CellView.isNumeric($0.cells[index]) }
    }
    let entities =
      _entity.family.count > 1
      ? (try? PropertyPath(PropertyPath.identifier, of: _entity, in: _store.layout)) : nil
    let identity = TableRequest.identityHead(request, entities.map { _facet($0, request) } ?? .empty)
    let head = zip(request.columns, numeric).map { path, isNumeric in _head(path, isNumeric, request) }
    let rows = page.rows.map { row in
      HTML.tag(
        "tr", ["data-row": row.link.identifier],
        [
          .tag(
            "th", ["scope": "row"],
            .link(ObjectPage.place(row.link), class: "id", HTML(_identifier(row.link))))
        ] + zip(request.columns, row.cells).map { _cell($0, $1, row.link) })
    }
    guard !page.rows.isEmpty else {
      return .tag(
        "p", ["class": "none"],
        HTML(request.filter == nil ? "There are no objects." : "No object meets the filter."))
    }
    return .tag(
      "div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Objects"],
      .tag(
        "table", ["class": "grid objects"],
        .tag("thead", [:], .tag("tr", [:], [identity] + head)), .tag("tbody", [:], rows)))
  }

  private func _cell(_ path: PropertyPath, _ cell: Cell, _ link: ObjectLink) -> HTML {
    if case .bytes(let blob) = cell, blob.picture != nil, path.names.count == 1,
      blob.count ?? .max <= _store.limits.thumbnailBytes
    {
      return .tag("td", [:], CellView.thumbnail(blob, of: link, path.text))
    }
    return CellView.table(cell)
  }

  /// The key alone for objects of the page's entity.
  private func _identifier(_ link: ObjectLink) -> String {
    link.entity == _entity.entityName ? "p\(link.key)" : link.identifier
  }

  private func _head(_ path: PropertyPath, _ isNumeric: Bool, _ request: TableRequest) -> HTML {
    let name = HTML.name(path.text) + _zone(path)
    guard path.isSortable(of: _entity) else {
      return .tag("th", ["scope": "col", "class": isNumeric ? "num" : nil], name, _facet(path, request))
    }
    let isSorted = request.sort == path
    let next = isSorted && request.isAscending ? "-" + path.text : path.text
    let order = isSorted ? (request.isAscending ? "ascending" : "descending") : nil
    return .tag(
      "th", ["scope": "col", "class": isNumeric ? "num" : nil, "aria-sort": order],
      .link(request.place.with("sort", next), name), _facet(path, request))
  }

  /// The zone of a column of dates.
  private func _zone(_ path: PropertyPath) -> HTML {
    guard case .attribute(let attribute) = path.kind, attribute.type == .date else { return .empty }
    return .tag("span", ["class": "kind"], " UTC")
  }

  /// A link to the values of a column.
  private func _facet(_ path: PropertyPath, _ request: TableRequest) -> HTML {
    switch path.kind {
    case .attribute(let attribute):
      switch attribute.type.form {
      case .binaryData, .transformable, .composite, .undefined, .objectID: return .empty
      default: break
      }
    case .toOne, .identity: break
    case .toMany: return .empty
    }
    let words = path.text == PropertyPath.identifier ? "Objects by entity" : "Values of \(path.text)"
    return .tag(
      "a",
      [
        "class": "facet", "href": request.place.at("/facet").with("column", path.text).address,
        "title": words,
        "aria-label": words,
      ], "▾")
  }
}

extension TableRequest {
  /// The head of the identity column.
  static func identityHead(_ request: TableRequest, _ facet: HTML) -> HTML {
    let isSorted = request.sort == nil
    let next = isSorted && request.isAscending ? "-" + PropertyPath.identifier : nil
    return .tag(
      "th",
      ["scope": "col", "aria-sort": isSorted ? (request.isAscending ? "ascending" : "descending") : nil],
      .link(request.place.with("sort", next), "object"), facet)
  }
}

extension Visit {
  /// The entity that a field of the address names.
  ///
  /// - Throws: `Router.Missing`.
  func entity(_ field: String) throws -> PropertyLayout {
    let name = request.query(field) ?? ""
    guard let entity = store.entity(name) else {
      throw Router.Missing(what: "The model has no entity '\(name.prefix(100))'.")
    }
    return entity
  }

  /// The object that the address names by `entity` and `key`.
  ///
  /// - Throws: `Router.Missing`.
  func object() throws -> (entity: PropertyLayout, key: Int64) {
    let entity = try entity("entity")
    guard let key = request.query("key").flatMap(Int64.init) else {
      throw Router.Missing(what: "The address has no object key. Open the object from a table.")
    }
    return (entity, key)
  }
}
