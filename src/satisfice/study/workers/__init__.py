"""What evaluates: the threads of a process and their leases on trials, storages that outlive a crash, and interrupts."""
