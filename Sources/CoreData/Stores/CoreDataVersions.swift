/// The version of Core Data whose store format this implementation writes.
public let NSCoreDataVersionNumber: Double = 1414

// Versions of Core Data in Apple's system releases, for comparison with `NSCoreDataVersionNumber`.

/// Core Data of Mac OS X 10.4.
public let NSCoreDataVersionNumber10_4 = 46.0
/// Core Data of Mac OS X 10.4.3.
public let NSCoreDataVersionNumber10_4_3 = 77.0
/// Core Data of Mac OS X 10.5.
public let NSCoreDataVersionNumber10_5 = 185.0
/// Core Data of Mac OS X 10.5.3.
public let NSCoreDataVersionNumber10_5_3 = 186.0
/// Core Data of Mac OS X 10.6.
public let NSCoreDataVersionNumber10_6 = 246.0
/// Core Data of Mac OS X 10.6.2.
public let NSCoreDataVersionNumber10_6_2 = 250.0
/// Core Data of Mac OS X 10.6.3.
public let NSCoreDataVersionNumber10_6_3 = 251.0
/// Core Data of Mac OS X 10.7.
public let NSCoreDataVersionNumber10_7 = 358.4
/// Core Data of Mac OS X 10.7.2.
public let NSCoreDataVersionNumber10_7_2 = 358.12
/// Core Data of Mac OS X 10.7.3.
public let NSCoreDataVersionNumber10_7_3 = 358.13
/// Core Data of Mac OS X 10.7.4.
public let NSCoreDataVersionNumber10_7_4 = 358.14
/// Core Data of Mac OS X 10.8.
public let NSCoreDataVersionNumber10_8 = 407.5
/// Core Data of Mac OS X 10.8.2.
public let NSCoreDataVersionNumber10_8_2 = 407.7
/// Core Data of Mac OS X 10.9.
public let NSCoreDataVersionNumber10_9 = 481.0
/// Core Data of Mac OS X 10.9.2.
public let NSCoreDataVersionNumber10_9_2 = 481.1
/// Core Data of Mac OS X 10.9.3.
public let NSCoreDataVersionNumber10_9_3 = 481.3
/// Core Data of Mac OS X 10.10.
public let NSCoreDataVersionNumber10_10 = 526.0
/// Core Data of Mac OS X 10.10.2.
public let NSCoreDataVersionNumber10_10_2 = 526.1
/// Core Data of Mac OS X 10.10.3.
public let NSCoreDataVersionNumber10_10_3 = 526.2
/// Core Data of Mac OS X 10.11.
public let NSCoreDataVersionNumber10_11 = 640.0
/// Core Data of Mac OS X 10.11.3.
public let NSCoreDataVersionNumber10_11_3 = 641.3
/// Core Data of iOS 3.0.
public let NSCoreDataVersionNumber_iPhoneOS_3_0 = 241.0
/// Core Data of iOS 3.1.
public let NSCoreDataVersionNumber_iPhoneOS_3_1 = 248.0
/// Core Data of iOS 3.2.
public let NSCoreDataVersionNumber_iPhoneOS_3_2 = 310.2
/// Core Data of iOS 4.0.
public let NSCoreDataVersionNumber_iPhoneOS_4_0 = 320.5
/// Core Data of iOS 4.1.
public let NSCoreDataVersionNumber_iPhoneOS_4_1 = 320.11
/// Core Data of iOS 4.2.
public let NSCoreDataVersionNumber_iPhoneOS_4_2 = 320.15
/// Core Data of iOS 4.3.
public let NSCoreDataVersionNumber_iPhoneOS_4_3 = 320.17
/// Core Data of iOS 5.0.
public let NSCoreDataVersionNumber_iPhoneOS_5_0 = 386.1
/// Core Data of iOS 5.1.
public let NSCoreDataVersionNumber_iPhoneOS_5_1 = 386.5
/// Core Data of iOS 6.0.
public let NSCoreDataVersionNumber_iPhoneOS_6_0 = 419.0
/// Core Data of iOS 6.1.
public let NSCoreDataVersionNumber_iPhoneOS_6_1 = 419.1
/// Core Data of iOS 7.0.
public let NSCoreDataVersionNumber_iPhoneOS_7_0 = 479.1
/// Core Data of iOS 7.1.
public let NSCoreDataVersionNumber_iPhoneOS_7_1 = 479.3
/// Core Data of iOS 8.0.
public let NSCoreDataVersionNumber_iPhoneOS_8_0 = 519.0
/// Core Data of iOS 8.3.
public let NSCoreDataVersionNumber_iPhoneOS_8_3 = 519.15
/// Core Data of iOS 9.0.
public let NSCoreDataVersionNumber_iPhoneOS_9_0 = 640.0
/// Core Data of iOS 9.2.
public let NSCoreDataVersionNumber_iPhoneOS_9_2 = 641.4
/// Core Data of iOS 9.3.
public let NSCoreDataVersionNumber_iPhoneOS_9_3 = 641.6
