import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataStoreTools
import Foundation

/// Finds the page for a request that the gatekeeper has admitted.
struct Router: Sendable {
  let store: ExploredStore
  let secrets: Secrets
  /// Nil if the store is open read-only.
  let session: EditSession?

  func answer(to request: HTTPRequest) -> HTTPResponse {
    if let asset = Assets.answer(request.path) { return asset }
    let visit = Visit(request: request, store: store, secrets: secrets, edits: session)
    do {
      return try _answer(visit)
    } catch {
      return _failure(error, visit)
    }
  }

  private func _answer(_ visit: Visit) throws -> HTTPResponse {
    switch (visit.request.method, visit.request.path) {
    case ("POST", let path): return try _post(path, visit)
    case (_, "/"): return try EntitiesPage(visit).answer()
    case (_, "/entity"): return try EntityPage(visit).answer()
    case (_, "/object"): return try ObjectPage(visit).answer()
    case (_, "/blob"): return try BlobAnswer(visit).answer()
    case (_, "/members"): return try MembersPage(visit).answer()
    case (_, "/sql"): return try SQLPage(visit).answer()
    case (_, "/search"): return try SearchPage(visit).answer()
    case (_, "/facet"): return try FacetPage(visit).answer()
    case (_, "/timeline"): return try TimelinePage(visit).answer()
    case (_, "/compare"): return try ComparePage(visit).answer()
    case (_, "/pick"): return try PickAnswer(visit).answer()
    case (_, "/history"): return try HistoryPage(visit).answer()
    case (_, "/model"): return ModelPage(visit).answer()
    case (_, "/check"): return try CheckPage(visit).answer()
    case (_, "/export"): return try ExportAnswer(visit).answer()
    case (_, "/complete"): return try CompletionAnswer(visit).answer()
    case (_, "/events"): return try EventStream(visit).answer()
    case (_, "/edit"), (_, "/new"): return try EditFormPage(visit).form()
    case (_, "/changes"): return try ChangesPage(visit).page()
    default: throw Missing(what: "There is no page '\(visit.request.path)'.")
    }
  }

  /// Requests that change the store, or the unsaved changes.
  private func _post(_ path: String, _ visit: Visit) throws -> HTTPResponse {
    switch path {
    case "/edit", "/new": return try EditFormPage(visit).post()
    case "/delete": return try EditFormPage(visit).delete()
    case "/changes/save": return try ChangesPage(visit).save()
    case "/changes/undo": return try ChangesPage(visit).undo()
    case "/changes/redo": return try ChangesPage(visit).redo()
    case "/changes/discard": return try ChangesPage(visit).discard()
    default: throw Missing(what: "Nothing can be posted to '\(path)'.")
    }
  }

  /// The store is open read-only.
  struct ReadOnly: Error {}

  /// The page or the object does not exist.
  struct Missing: Error {
    let what: String
  }

  private func _failure(_ error: any Error, _ visit: Visit) -> HTTPResponse {
    let (status, title, text): (Int, String, String) =
      switch error {
      case let missing as Missing: (404, "Not found", missing.what)
      case let problem as TableRequest.Problem: (400, "This cannot be shown", problem.description)
      case is ReadOnly:
        (403, "Read-only", "The store is shown read-only. Start the explorer with '--edit' to change it.")
      case is ReaderPool.Busy, is Places.Full: (503, "Busy", "\(error)")
      case QueryBudget.Exceeded.clientLeft: (503, "Stopped", "\(error)")
      case is QueryBudget.Exceeded: (503, "Stopped", "\(error)")
      default: (500, "The store cannot be read", StoreInput.failure(error, store.name).message)
      }
    return PageFrame(visit, title: title).answer(
      status: status,
      .tag("h1", [:], HTML(title)), .tag("p", ["class": "problem", "role": "alert"], HTML(text)))
  }
}

/// A request while its page is generated.
struct Visit: Sendable {
  let request: HTTPRequest
  let store: ExploredStore
  let secrets: Secrets
  let edits: EditSession?
  let budget: QueryBudget
  let begin = ContinuousClock.now

  init(request: HTTPRequest, store: ExploredStore, secrets: Secrets, edits: EditSession?) {
    (self.request, self.store, self.secrets, self.edits) = (request, store, secrets, edits)
    budget = QueryBudget(seconds: store.limits.pageSeconds, client: request.client)
  }

  /// The unsaved changes.
  ///
  /// - Throws: `Router.ReadOnly`.
  func session() throws -> EditSession {
    guard let edits else { throw Router.ReadOnly() }
    return edits
  }

  /// The token field of every form that changes something.
  var formToken: HTML { .void("input", ["type": "hidden", "name": "form-token", "value": secrets.form]) }
}
