import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataExplorer

/// Every page as it was when somebody last looked at it: without style and script, a tag a line, in 'Pages'.
@Suite struct RecordedPageTests {
  private static let _addresses: KeyValuePairs<String, String> = [
    "store": "/",
    "table": "/entity?name=Work&rows=7",
    "table-columns": "/entity?name=Thing&columns=title,room.name,tags&sort=-title&rows=5",
    "table-filter": "/entity?name=Work&where=number%20%3E%20100",
    "table-next": "/entity?name=Work&rows=7&sort=number",
    "table-empty": "/entity?name=Sculpture&where=number%20%3D%3D%201",
    "table-mistake": "/entity?name=Work&where=numbr%20%3E%201",
    "object": "/object?entity=Work&key=3",
    "object-odd": "/object?entity=Work&key=31",
    "object-room": "/object?entity=Room&key=1",
    "object-tag": "/object?entity=Tag&key=3",
    "members": "/members?entity=Room&key=1&name=works",
    "search": "/search?text=work%201",
    "search-none": "/search?text=nowhere",
    "search-empty": "/search",
    "facet-text": "/facet?name=Work&column=title",
    "facet-number": "/facet?name=Work&column=number",
    "facet-date": "/facet?name=Work&column=made",
    "facet-flag": "/facet?name=Work&column=isShown",
    "timeline": "/timeline",
    "timeline-entity": "/timeline?entity=Work&from=2001-03&to=2001-09",
    "history": "/history",
    "model": "/model",
    "pick": "/pick?name=Tag&text=o",
    "complete": "/complete?name=Work&text=ro",
    "timeline-pages": "/timeline?skip=10",
    "history-author": "/history?author=second",
    "table-exact": "/entity?name=Work&exact=1&sort=-price&rows=4",
    "sql": "/sql?name=Work&where=room.name%20%3D%3D%20'North'",
    "edit": "/edit?entity=Work&key=3",
    "new": "/new?entity=Room",
    "changes": "/changes",
    "missing": "/object?entity=Work&key=99",
  ]

  /// What differs from one run to the next.
  private static func _plain(_ page: String, _ gallery: Gallery) -> String {
    var text = page.replacing(/(?s)<(style|script)[^>]*>.*?<\/\1>/, with: "")
    text = text.replacing(gallery.directory.path, with: "/tmp/gallery")
    text = text.replacing(/[0-9a-f]{64}/, with: "TOKEN")
    text = text.replacing(/[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[0-9A-F]{4}-[0-9A-F]{12}/, with: "UUID")
    text = text.replacing(/data-live="[0-9]+"/, with: "data-live=\"1\"")
    text = text.replacing(/x&#39;[0-9A-Za-z]*/, with: "x&#39;BYTES")
    text = text.replacing(/20[2-9][0-9]-[0-9]{2}-[0-9]{2}([ T][0-9:.]+Z?)?/, with: "TODAY")
    text = text.replacing(/[0-9.]+ (ms|kB|MB)/) { "0 \($0.1)" }
    return text.replacing("><", with: ">\n<") + "\n"
  }

  @Test func `pages are as they were when somebody looked at them`() throws {
    let gallery = try Gallery()
    let library = try Library()
    let explorer = try library.explore(Library.editing, path: gallery.store.path)
    let visitor = try Visitor(explorer).owning(explorer, over: library)
    for (name, address) in Self._addresses {
      let answer = try visitor.get(address)
      let page = "\(answer.status)\n" + Self._plain(answer.text, gallery)
      let difference = try RecordedText("\(name).html", in: "Pages").difference(of: page)
      #expect(difference == nil, "\(address)")
    }
  }
}
