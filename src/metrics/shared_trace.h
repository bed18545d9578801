#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// A trace's file as all processes of a run share it: each appends whole packets, so that the file is a trace at any
/// time, whichever of them is killed. Behind the first write that fails nothing more is written, for later packets mean
/// nothing without it. Thread-safe.
class SharedTrace {
 public:
  /// Goes on with a file that is open for writing and has `size` bytes. Other processes find it by `address` as long as
  /// this object is there.
  static Result<std::unique_ptr<SharedTrace>> over(OwnedFd file, std::int64_t size);

  /// The trace at an address; none: it is empty, or that trace is over.
  static std::unique_ptr<SharedTrace> at(std::string_view address);

  /// Leads other processes to it (RecordingRequest::trace).
  std::string address() const;

  /// A number, from 1 on, that no other process of the run has.
  std::uint32_t take_process_number();

  /// Waits for other processes' writes.
  void append(std::string_view packets);

  /// errno of the write that failed; 0: none did.
  int failure() const;

  /// Bytes of whole packets.
  std::int64_t size() const;

  /// Removes what a failed write, or a process that was killed in one, left behind them.
  void cut() const;

 private:
  struct State {
    pthread_mutex_t mutex;
    std::int64_t end;
    std::uint32_t processes;
    int failure;
  };
  struct Unmap {
    void operator()(State* state) const;
  };

  SharedTrace(OwnedFd file, OwnedFd memory, std::unique_ptr<State, Unmap> state)
      : file_(std::move(file)), memory_(std::move(memory)), state_(std::move(state)) {}
  static std::unique_ptr<State, Unmap> map(const OwnedFd& memory);
  template <class Fn>
  auto locked(Fn fn) const;

  OwnedFd file_;
  OwnedFd memory_;  // what `state_` is in
  std::unique_ptr<State, Unmap> state_;
};

}  // namespace tutti
