#include "link/control/control_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "support/temp_folder.h"

using namespace tutti;

namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

}  // namespace

TEST(ControlSocket, AnswersEveryRequestAndTakesItsFileAlong) {
  const TempFolder folder;
  std::filesystem::path path;
  {
    const auto socket = ControlSocket::open(
        folder.path(), "batch", [](const std::string& request) { return "{\"asked\":\"" + request + "\"}"; });
    ASSERT_TRUE(socket) << socket.error().text();
    path = (*socket)->path();
    EXPECT_EQ(send_control_request(path, "status").value(), "{\"asked\":\"status\"}");
    EXPECT_EQ(send_control_request(path, "drain cuda:1").value(), "{\"asked\":\"drain cuda:1\"}");
    EXPECT_THAT(control_sockets(folder.path()), testing::ElementsAre(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(send_control_request(path, "status").error().fault, Fault::missing);
}

TEST(ControlSocket, AnAnswerOfManyMegabytesArrivesWhole) {
  const TempFolder folder;
  const std::string much(5'000'000, 'x');
  const auto socket = ControlSocket::open(folder.path(), "batch", [&](const std::string&) { return much; });
  ASSERT_TRUE(socket);
  EXPECT_EQ(send_control_request((*socket)->path(), "status").value(), much);
}

TEST(ControlSocket, SilentClientDelaysOthersOnlyBriefly) {
  const TempFolder folder;
  const auto socket = ControlSocket::open(folder.path(), "batch", [](const std::string&) { return "{}"; });
  ASSERT_TRUE(socket);
  const sockaddr_un address = address_of((*socket)->path());
  const OwnedFd silent(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(silent.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(send_control_request((*socket)->path(), "status", Seconds(10)).value(), "{}");
}

TEST(ControlSocket, FullQueueOfAStoppedRunDoesNotBlockCallers) {
  const TempFolder folder;
  const auto path = folder / "batch-1.sock";
  const sockaddr_un address = address_of(path);
  const OwnedFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  const OwnedFd first(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(first.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto answer = send_control_request(path, "status", Seconds(0.1));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault, Fault::device) << answer.error().text();
  EXPECT_THAT(control_sockets(folder.path()), testing::ElementsAre(path)) << "it is there";
}

TEST(ControlSocket, SocketOfAKilledProcessIsNotListed) {
  const TempFolder folder;
  const auto socket = ControlSocket::open(folder.path(), "batch", [](const std::string&) { return "{}"; });
  ASSERT_TRUE(socket);
  const auto left = folder / "batch-1.sock";
  {
    const sockaddr_un address = address_of(left);
    const OwnedFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_THAT(control_sockets(folder.path()), testing::ElementsAre((*socket)->path()));
  EXPECT_FALSE(std::filesystem::exists(left));
}
