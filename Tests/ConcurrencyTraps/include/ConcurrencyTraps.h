// Linked into the tests, this switches the trapping check for misuse of queues on, unless the environment has set it.
