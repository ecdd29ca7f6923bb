/// Sources with `@NSManaged` declarations of every form that models use.
enum ManglingFixture {
  /// Declarations that are all used somewhere, so that the compiler references each symbol.
  static let source = """
    import CoreData

    public enum Level: Int16 { case low, high }
    enum Genre: String { case novel, poem }
    public struct Marks: OptionSet {
      public let rawValue: Int32
      public init(rawValue: Int32) { self.rawValue = rawValue }
    }
    public protocol Shelved {}
    typealias Names = [String]
    struct Crate<Item> { var item: Item }
    struct Box<Key: Hashable, Item: Sequence<Int>>: Shelved { var items: [Key: Item] = [:] }

    @objc public class Author: NSManagedObject {
      @NSManaged public var books: NSSet?
      @NSManaged public var name: String
      @NSManaged var favourite: Book?
      @NSManaged var author: Author?
      @NSManaged var Author: String?
    }

    public class Book: NSManagedObject {
      enum Binding: Int32 { case paper, cloth }
      struct Cover { class Picture: NSObject {} }
      @NSManaged public var title: String?
      @NSManaged public var pages: Int32
      @NSManaged public var published: Date?
      @NSManaged public var due: Date
      @NSManaged public var scan: Data?
      @NSManaged public var id: UUID?
      @NSManaged public var url: URL?
      @NSManaged public var price: NSDecimalNumber?
      @NSManaged public var tax: Decimal
      @NSManaged public var stock: NSNumber?
      @NSManaged public var small: Int16
      @NSManaged public var large: Int64
      @NSManaged public var whole: Int
      @NSManaged public var isLent: Bool
      @NSManaged public var weight: Double
      @NSManaged public var height: Float
      @NSManaged public var time: TimeInterval
      @NSManaged public var extra: NSObject?
      @NSManaged public var anything: Any?
      @NSManaged public var object: AnyObject?
      @NSManaged public var authors: Set<Author>
      @NSManaged public var readers: Set<Author>?
      @NSManaged public var list: [Author]
      @NSManaged public var maybeList: [Author]?
      @NSManaged public var chapters: NSOrderedSet?
      @NSManaged public var author: Author?
      @NSManaged public var authorAuthor: Author
      @NSManaged public var bookAuthorBook: Book?
      @NSManaged public var tags: [String]?
      @NSManaged public var pair: (Int, String)
      @NSManaged public var info: [String: Any]?
      @NSManaged public var index: [String: String]
      @NSManaged public var counts: [String: [Int]]
      @NSManaged public var things: [Any]?
      @NSManaged public var objectRef: NSManagedObjectID?
      @NSManaged public var level: Level
      @NSManaged var genre: Genre
      @NSManaged var maybeGenre: Genre?
      @NSManaged public var marks: Marks
      @NSManaged var binding: Binding
      @NSManaged var bindings: [Binding: Book.Binding]
      @NSManaged var picture: Cover.Picture?
      @NSManaged var names: Names
      @NSManaged var shelved: (any Shelved)?
      @NSManaged var text: NSAttributedString?
      @NSManaged var path: IndexPath?
      @NSManaged var zone: TimeZone?
      @NSManaged var place: Locale?
      @NSManaged var parts: DateComponents?
      @NSManaged var indexes: IndexSet?
      @NSManaged var byte: UInt8
      @NSManaged var long_name_with_x2_parts: String!
      @NSManaged var `class`: String?
      @NSManaged var größe: Double
      @NSManaged var first, second: Int16
      @NSManaged package var shared: String?
      @NSManaged public private(set) var counted: String?
      @NSManaged private var primitiveTitle: String?
      @NSManaged fileprivate var primitivePublished: Date?
      @NSManaged public func addToAuthors(_ value: Author)
      @NSManaged public func removeFromAuthors(_ value: Author)
      @NSManaged public func addToAuthors(_ values: NSSet)
      @NSManaged func addToReaders(_ values: Set<Author>)
    }

    extension Book {
      @NSManaged public var subtitle: String?
      @NSManaged public func insertIntoChapters(_ value: Author, at idx: Int)
      @NSManaged public func removeFromChapters(at idx: Int)
      @NSManaged public func insertIntoChapters(_ values: [Author], at indexes: NSIndexSet)
      @NSManaged public func removeFromChapters(at indexes: NSIndexSet)
      @NSManaged public func replaceChapters(at idx: Int, with value: Author)
      @NSManaged public func replaceChapters(at indexes: NSIndexSet, with values: [Author])
      @NSManaged public func addToChapters(_ values: NSOrderedSet)
    }

    import FoundationNetworking

    public class Keepsake: NSManagedObject {
      @NSManaged public var news: Notification?
      @NSManaged var letter: NSNotification?
      @NSManaged var parts: URLComponents?
      @NSManaged var items: [URLQueryItem]?
      @NSManaged var request: URLRequest?
      @NSManaged var response: HTTPURLResponse?
      @NSManaged var cookies: [HTTPCookie]?
      @NSManaged var place: CGPoint
      @NSManaged var frame: CGRect
      @NSManaged var width: CGFloat
      @NSManaged var turn: AffineTransform?
      @NSManaged var range: NSRange
      @NSManaged var order: ComparisonResult
      @NSManaged var error: CocoaError?
      @NSManaged var length: UnitLength?
      @NSManaged var lengths: Measurement<UnitLength>?
      @NSManaged var names: NSPersonNameComponents?
      @NSManaged var letters: NSCharacterSet?
      @NSManaged var style: NumberFormatter?
      @NSManaged var key: AnyHashable?
      @NSManaged var indexes: NSMutableIndexSet?
    }
    extension Keepsake {
      func use() {
        (news, letter, parts, items, request) = (news, letter, parts, items, request)
        (response, cookies, place, frame, width) = (response, cookies, place, frame, width)
        (turn, range, order, error, length) = (turn, range, order, error, length)
        (lengths, names, letters, style, key) = (lengths, names, letters, style, key)
        indexes = indexes
      }
    }

    class Novel: Book {
      @NSManaged var hero: String?
      @NSManaged var novelty: Shop.Department.Shelf?
      @NSManaged func addToSequels(_ value: Novel)
    }
    extension Novel {
      @NSManaged var sequels: NSOrderedSet?
      @NSManaged var prequel: Novel?
      @NSManaged fileprivate var primitiveHero: String?
    }

    enum Shop {
      enum Department { class Shelf: NSManagedObject {
        @NSManaged var owner: Book?
        @NSManaged var shelves: Set<Shelf>
        @NSManaged var shopShelf: String
      } }
    }

    #if canImport(ObjectiveC)
    extension Book { @NSManaged var onlyOnApple: ExtremelyApple }
    #endif
    """.replacingOccurrences(of: "@objc ", with: "") + uses

  private static let uses = """


    extension Author {
      func use() {
        (books, name, favourite) = (books, name, favourite)
        (author, Author) = (author, Author)
      }
    }
    extension Novel {
      func useNovel() {
        (hero, novelty, sequels) = (hero, novelty, sequels)
        (prequel, primitiveHero) = (prequel, primitiveHero)
        addToSequels(self)
      }
    }
    extension Shop.Department.Shelf {
      func use() { (owner, shelves, shopShelf) = (owner, shelves, shopShelf) }
    }
    extension Book {
      func use(_ a: Author) {
        (title, pages, published, due, scan, id) = (title, pages, published, due, scan, id)
        (url, price, tax, stock, small, large) = (url, price, tax, stock, small, large)
        (whole, isLent, weight, height, time, extra) = (whole, isLent, weight, height, time, extra)
        (anything, object, authors, readers) = (anything, object, authors, readers)
        (list, maybeList, chapters, author) = (list, maybeList, chapters, author)
        (authorAuthor, bookAuthorBook, tags, info) = (authorAuthor, bookAuthorBook, tags, info)
        (index, counts, things, objectRef) = (index, counts, things, objectRef)
        (level, genre, maybeGenre, marks) = (level, genre, maybeGenre, marks)
        (binding, bindings, picture, names) = (binding, bindings, picture, names)
        (shelved, text, path, zone) = (shelved, text, path, zone)
        (place, parts, indexes, byte) = (place, parts, indexes, byte)
        (long_name_with_x2_parts, `class`, größe) = (long_name_with_x2_parts, `class`, größe)
        (first, second, shared, counted) = (first, second, shared, counted)
        (primitiveTitle, primitivePublished) = (primitiveTitle, primitivePublished)
        subtitle = subtitle
        addToAuthors(a)
        removeFromAuthors(a)
        addToAuthors(NSSet())
        addToReaders([a])
        insertIntoChapters(a, at: 0)
        removeFromChapters(at: 0)
        insertIntoChapters([a], at: NSIndexSet())
        removeFromChapters(at: NSIndexSet())
        replaceChapters(at: 0, with: a)
        replaceChapters(at: NSIndexSet(), with: [a])
        addToChapters(NSOrderedSet())
      }
    }
    """

  /// A module whose types other modules use and subclass.
  static let foundation = """
    import CoreData

    public enum Kind: Int16 { case song, fugue }
    open class Piece: NSManagedObject {
      public struct Score: RawRepresentable {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }
      }
    }
    public class Cover: NSObject {}
    """

  /// Classes and extensions over the types of `Pieces`.
  static let overPieces = """
    import CoreData
    import Pieces

    public class Song: Piece {
      @NSManaged public var kind: Kind
      @NSManaged var maybeKind: Kind?
      @NSManaged var score: Piece.Score
      @NSManaged var own: Score
      @NSManaged public var pieces: Set<Piece>
      @NSManaged var cover: Cover?
      @NSManaged public func addToPieces(_ value: Piece)
      @NSManaged public func removeFromPieces(_ values: Set<Piece>)
    }
    extension Piece {
      @NSManaged public var label: String?
      @NSManaged var song: Song?
      @NSManaged var piece: Piece?
      @NSManaged public func addToSongs(_ value: Song)
    }
    func use(_ song: Song, _ piece: Piece) {
      (song.kind, song.maybeKind, song.score) = (song.kind, song.maybeKind, song.score)
      (song.own, song.pieces, song.cover) = (song.own, song.pieces, song.cover)
      (piece.label, piece.song, piece.piece) = (piece.label, piece.song, piece.piece)
      song.addToPieces(piece)
      song.removeFromPieces([piece])
      piece.addToSongs(song)
    }
    """

  /// A program over hand-written classes of every access level.
  static let program = """
    import CoreData

    enum Level: Int16 { case low, high }

    public class Book: NSManagedObject {
      @NSManaged public var title: String?
      @NSManaged var pages: Int32
      @NSManaged package var level: String
      @NSManaged private var secret: String?
      @NSManaged public private(set) var kept: String?
      @NSManaged public func addToShelves(_ shelf: Shelf)
      @NSManaged public func addToParts(_ parts: NSSet)
      func hide(_ text: String) { secret = text; kept = text }
      func reveal() -> String { secret ?? "-" }
    }

    public class Shelf: NSManagedObject {}

    class Novel: Book {
      @NSManaged var hero: String?
      @NSManaged private var own: String
      func note() -> String { own = hero ?? ""; return own }
    }

    @main struct Program {
      static func main() {
        let book = Novel()
        book.title = "Emma"
        book.pages = 7
        book.level = "high"
        book.hide("secret")
        book.addToShelves(Shelf())
        book.addToParts(NSSet())
        book.hero = book.title
        let noted = [book.values["shelves"], book.values["parts"]].map { "\\($0!)" }.joined(separator: " ")
        print(book.title!, book.pages, book.level, book.reveal(), noted, book.note())
      }
    }
    """
}
