import CoreData

/// The kind of a loan, stored by raw value.
enum LoanKind: Int16 {
  case reading
  case exhibition
}

/// Written by hand, as on Apple's platforms: the plugin generates the accessors.
#if canImport(ObjectiveC)
@objc(Loan)
#endif
class Loan: NSManagedObject {
  @NSManaged var borrower: String
  @NSManaged var kind: LoanKind
  @NSManaged var since: Date?
  @NSManaged var book: Book?
  @NSManaged var reminders: Set<Reminder>
  @NSManaged private var primitiveSince: Date?

  override func awakeFromInsert() {
    super.awakeFromInsert()
    primitiveSince = Date(timeIntervalSinceReferenceDate: 0)
  }
}

extension Loan {
  @NSManaged func addToReminders(_ reminder: Reminder)
  @NSManaged func removeFromReminders(_ reminder: Reminder)
}

/// A loan of several months.
class LongLoan: Loan {
  @NSManaged var months: Int16
}
