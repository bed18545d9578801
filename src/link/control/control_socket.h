#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {

// How a running batch is queried and steered: a socket in the user's runtime folder, one request a connection. A
// request is a line of words, the answer a line of JSON.
//
//     status              the run as view's fleet_status_json writes it
//     drain [DEVICE]      nothing new there, or (without one) nothing new at all: {"ok":true}. The run ends when
//                         nothing is in work
//     resume [DEVICE]     again
//     cancel TASK         a job by its id in the status
//
// What cannot be done is answered by {"error":"…"}.

/// $XDG_RUNTIME_DIR/tutti, else /tmp/tutti-<uid>; made for this user alone when missing. Fault::missing when the folder
/// belongs to another user.
Result<std::filesystem::path> control_folder();

/// Serves requests on a thread of its own until it goes; the socket's file goes with it.
class ControlSocket {
 public:
  /// Answers one request, a line without its end; called by the socket's thread.
  using Answer = std::function<std::string(const std::string& request)>;

  /// Listens on <folder>/<name>-<pid>.sock.
  static Result<std::unique_ptr<ControlSocket>> open(const std::filesystem::path& folder, const std::string& name,
                                                     Answer answer);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  ControlSocket(std::filesystem::path path, OwnedFd listener, OwnedFd over, Answer answer);
  void serve() const;
  void serve_one(const OwnedFd& peer) const;

  std::filesystem::path path_;
  OwnedFd listener_;
  OwnedFd over_;  // an eventfd, written when the thread is to go
  Answer answer_;
  std::jthread thread_;
};

/// The sockets in the folder that a process listens on, even if it does not answer now, the latest first. Those of
/// processes that are gone are removed.
std::vector<std::filesystem::path> control_sockets(const std::filesystem::path& folder);

/// Sends a request and waits for the answer, without its line end. Fault::missing when no process listens;
/// Fault::device when there is no answer within `patience`.
Result<std::string> send_control_request(const std::filesystem::path& socket, const std::string& request,
                                         Seconds patience = Seconds(2));

}  // namespace tutti
