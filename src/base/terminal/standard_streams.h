#pragma once

#include "base/error.h"

namespace tutti {

/// Occupies those of the descriptors 0, 1 and 2 that we were started without (`tutti … <&-`). What is opened later
/// would else become standard input or output by accident, be waited for or written into. Reading and writing them
/// fails as it did. Called first thing in main.
void occupy_closed_streams();

/// Called after the last output: fails where standard output has not taken it all. An answer that a full disk cut short
/// must not look like success to its reader.
Result<void> flush_standard_output();

}  // namespace tutti
