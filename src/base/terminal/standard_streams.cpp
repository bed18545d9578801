#include "base/terminal/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace tutti {

void occupy_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // The lowest free descriptor is this one. Opened the wrong way round, so that its use is still an error.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace tutti
