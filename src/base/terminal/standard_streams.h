#pragma once

namespace tutti {

/// Occupies those of the descriptors 0, 1 and 2 that we were started without (`tutti … <&-`). What is opened later
/// would else become standard input or output by accident, be waited for or written into. Reading and writing them
/// fails as it did. Called first thing in main.
void occupy_closed_streams();

}  // namespace tutti
