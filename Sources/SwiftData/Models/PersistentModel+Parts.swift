// The classes of one hierarchy: each has backing data of its own while an initialiser runs, since it can't reach
// those of its superclass before that is initialised. What the macro writes in subclasses joins them.

extension PersistentModel {
  /// Backing data of this class over the storage of a model's backing data. Called by what the macro writes.
  public static func _$backingData(sharing backingData: any BackingData<Root>) -> any BackingData<Self> {
    guard let storage = backingData.modelStorage else {
      programmerError(
        "a subclass of a model takes backing data of SwiftData's own, not a \(type(of: backingData)).")
    }
    return ModelBackingData<Self>(storage)
  }

  /// Has a subclass's part take over the values that the superclass's part was given, and answers what then stands for
  /// both; nil if they are one already. Called by what the macro writes.
  public static func _$joinBackingData(
    _ part: any BackingData<Self>, to whole: any BackingData<Root>
  ) -> (any BackingData<Root>)? {
    guard let own = part.modelStorage, let other = whole.modelStorage, own !== other else { return nil }
    own.take(from: other)
    return ModelBackingData<Root>(own)
  }
}
