// A control process that owns one worker and then does nothing: for a test to kill. Arguments: the worker's command.
#include <unistd.h>

#include <string>
#include <vector>

#include "link/worker_handle.h"

int main(int count, char** arguments) {
  using namespace tutti;
  auto handle = WorkerHandle::start(
      {.command = {.words = std::vector<std::string>(arguments + 1, arguments + count)}, .build_id = "scripted"});
  if (!handle || !(*handle)->ready()) return 1;
  for (;;) ::pause();
}
