#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

#include "base/owned.h"

namespace tutti {

/// A port of this machine that nobody listens at now: the system hands out another one at every call.
inline int free_port() {
  const OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), place, size) != 0 || ::getsockname(fd.get(), place, &size) != 0)
    throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

}  // namespace tutti
