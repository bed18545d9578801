#pragma once

#include <string>

#include "base/error.h"

namespace tutti {

/// That a file may not grow on (`ulimit -f`, or a file system's largest) becomes an error of the write, EFBIG. By
/// default the signal SIGXFSZ ends the program there and then. Called first thing in main: a child starts with the
/// default again.
void outlive_file_size_limit();

/// Whether this process ignores SIGCHLD: the kernel reaps its children then, and how they ended is lost. No child is
/// started then (base/process/child.h).
bool ignores_ends_of_children();

/// A program may be started with SIGCHLD ignored. Sets it to its default. Called first thing in main.
void keep_ends_of_children();

/// The error for EFBIG: Fault::refused, for no free space would end it. `what` names the file; the limit that this
/// process is under, where it is under one, and the way out are added.
Error file_too_large(std::string what);

/// Occupies those of the descriptors 0, 1 and 2 that we were started without (`tutti … <&-`). What is opened later
/// would else become standard input or output by accident, be waited for or written into. Reading and writing them
/// fails as it did. Called first thing in main.
void occupy_closed_streams();

/// Called after the last output: fails where standard output has not taken it all. An answer that a full disk cut short
/// must not look like success to its reader.
Result<void> flush_standard_output();

}  // namespace tutti
