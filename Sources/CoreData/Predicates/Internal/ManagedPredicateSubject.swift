import CoreDataPredicateLanguage

/// A predicate's subject among managed objects, which are equal to their IDs and get permanent ones.
protocol ManagedPredicateSubject: PredicateSubject {}

extension ManagedPredicateSubject {
  func predicateIdentity(of object: PredicateObject) -> AnyHashable {
    (object.wrapped as? any PredicateIdentifiable)?.predicateIdentity ?? object.base
  }

  func hasFinalIdentity(_ object: PredicateObject) -> Bool {
    (object.wrapped as? any PredicateIdentifiable)?.hasFinalPredicateIdentity ?? true
  }

  var identityVersion: Int? { LinkedIDs.count }
}
