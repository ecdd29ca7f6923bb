import CoreData

extension ModelContext {
  /// Sets the declared values of required attributes that have none, after a save failed for them.
  ///
  /// Another program may have added the columns without values. Models read as declared then, so they are saved as
  /// declared.
  ///
  /// - Returns: Whether there were any, so that the save is worth another try.
  func setDeclaredValues(missingIn error: any Error) -> Bool {
    var isAny = false
    for case let failure as CocoaError in [error]
      + ((error as NSError).userInfo[NSDetailedErrorsKey] as? [any Error] ?? [])
    where failure.code.rawValue == NSValidationMissingMandatoryPropertyError {
      guard let object = failure.userInfo[NSValidationObjectErrorKey] as? ModelStorage,
        let key = failure.userInfo[NSValidationKeyErrorKey] as? String,
        let modelClass = core.bindings.binding(named: object.entity.name ?? "")?.modelClass,
        let index = modelClass.indexByName[key],
        let value = modelClass.accessors[index].storedDeclaration
      else { continue }
      object.setValue(value, forKey: key)
      isAny = true
    }
    return isAny
  }
}
