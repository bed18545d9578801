// What becomes of an engine whose parent or socket goes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/build_id.h"
#include "worker/worker_harness.h"

namespace tutti {
namespace {

const char* const kEngine = TUTTI_BINARY_DIR "/bin/tutti-engine";

/// In the child of a fork: becomes an engine on `socket`.
[[noreturn]] void become_engine(int socket) {
  ::dup2(socket, kWorkerSocket);
  ::execl(kEngine, kEngine, "worker", "--fd", "3", nullptr);
  ::_exit(127);
}

TEST(EngineProcess, SendsHelloAndExitsWhenItsSocketCloses) {
  auto pair = Connection::make_pair().value();
  const pid_t engine = ::fork();
  if (engine == 0) become_engine(pair.second.get());
  pair.second = OwnedFd();
  {
    ControlEnd control(std::move(pair.first));
    EXPECT_EQ(control.expect<Hello>().build_id, build_id());
    ASSERT_EQ(::kill(engine, SIGINT), 0);  // Ctrl+C is left to the parent
    control.send(Ping{.sequence = 9});
    EXPECT_EQ(control.expect<Pong>().sequence, 9U);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(engine, &status, 0), engine);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(EngineProcess, DiesWithAParentThatIsKilledThoughItsSocketStaysOpen) {
  auto pair = Connection::make_pair().value();
  const pid_t parent = ::fork();
  if (parent == 0) {
    if (::fork() == 0) become_engine(pair.second.get());
    for (;;) ::pause();
  }
  pair.second = OwnedFd();
  ControlEnd control(std::move(pair.first));
  control.expect<Hello>();
  ASSERT_EQ(::kill(parent, SIGKILL), 0);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_EQ(control.next(), std::nullopt);  // the engine's end is closed: it is gone
}

TEST(EngineProcess, CalledByHandItExplainsItself) {
  for (const std::string arguments : {"", " worker", " worker --fd 0 </dev/null", " worker --fd x", " sing",
                                      " worker --fd 3 --fault sneeze", " worker --fd"}) {
    const int status = std::system((std::string(kEngine) + arguments + " 2>/dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << "tutti-engine" << arguments;
  }
}

}  // namespace
}  // namespace tutti
