#pragma once

#include <thread>

namespace tutti {

/// Lets other threads run until `holds`: for states that a correct program is sure to reach. A program that never does
/// runs into the test's time limit.
template <class Holds>
void eventually(Holds holds) {
  while (!holds()) std::this_thread::yield();
}

}  // namespace tutti
