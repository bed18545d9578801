#pragma once

#include <string>

#include "settings/option_table.h"

namespace tutti {

// What a command that ends for want of work runs then: --on-idle of 'tutti worker' and 'tutti serve', which mostly ends
// the machine, too.

/// Binds --on-idle. It belongs behind the flag that sets when such an end comes, which its help refers to. Empty, as by
/// default: nothing is run.
void add_on_idle(OptionTable& table, std::string& command);

/// Runs the shell command and waits for it; empty: there is none. Only after an end for want of work, and once no other
/// thread is left.
///
/// A command that fails is an error in the log, and does not change the exit code: what was to be done is done, and a
/// machine that does not go costs money.
void run_on_idle(const std::string& command);

}  // namespace tutti
