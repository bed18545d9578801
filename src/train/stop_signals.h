#pragma once

namespace tutti {

/// From now on SIGINT and SIGTERM request this process to stop instead of ending it. A second one ends it at once with
/// exit code 130, unless it comes within a second of the first: then it is the same one, sent to our group and handed
/// on. For a program whose loop looks between two pieces of work.
void catch_stop_signals();
bool stop_requested();

}  // namespace tutti
