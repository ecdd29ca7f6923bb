// swift-format-ignore-file
import SwiftData

@Model public final class PublicBook {
  public var title: String
  public private(set) var pages: Int
  package var shelf: Int?
  internal var row = 1
  fileprivate var mark: String?
  private var secret = 2.5

  public init(title: String, pages: Int) {
    self.title = title
    self.pages = pages
  }
}

@Model open class OpenBook {
  open var title: String = ""
  public init() {}
}

@Model package final class PackageBook {
  package var title = ""
  package init() {}
}

@Model internal final class InternalBook {
  var title = ""
  private init() {}
  static func make() -> InternalBook { InternalBook() }
}

@Model fileprivate final class FileBook {
  var title = ""
  init() {}
}

@Model private final class PrivateBook { var title = "" }

@Model nonisolated public final class IsolatedBook {
  public var title = ""
  public init() {}
}

@Model public class PublicParent {
  public var children: [PublicChild] = []
  public init() {}
}

@Model public class PublicChild {
  public var parent: PublicParent?
  public init() {}
}

struct Outer {
  @Model final class Inner {
    var a: Int
    init(a: Int) { self.a = a }

    @Model final class Innermost { var inner: Inner? }
  }
}

public enum Space {
  @Model public final class Item {
    public var a = 1
    public init() {}
  }
}

extension Space {
  @Model final class Extended {
    var item: Space.Item?
    init() {}
  }
}

func useFileBooks() -> [String] { [FileBook().title, PrivateBook().title] }
