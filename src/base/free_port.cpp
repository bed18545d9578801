#include "base/free_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

Result<int> free_port() {
  const OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), any, size) != 0 || ::getsockname(fd.get(), any, &size) != 0)
    return fail_errno("127.0.0.1", "no port could be taken");
  return ntohs(address.sin_port);
}

}  // namespace tutti
