#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace tutti::python {

/// A Result's error on its way to Python, where it becomes an exception of tutti.errors.
struct Failure {
  Error error;
};

/// Raises it from the fault's class; its text is the command line's.
void add_failures(nanobind::module_& module);

/// For calls that wait: false once Python has a signal to handle, such as Ctrl-C.
inline bool no_signal() {
  const nanobind::gil_scoped_acquire gil;
  return PyErr_CheckSignals() == 0;
}

/// What `fn` yields, on a thread of its own, or Fault::cancelled once Python has a signal to handle. Then nothing waits
/// for it: it goes on to its end by itself, so that it must own what it uses, and nothing of Python's. Without the GIL.
template <class Fn>
auto unless_signalled(Fn fn) -> decltype(fn()) {
  std::packaged_task<decltype(fn())()> task(std::move(fn));
  auto result = task.get_future();
  std::thread worker(std::move(task));
  while (result.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    if (no_signal()) continue;
    worker.detach();
    return fail(Fault::cancelled, "its caller no longer waits");
  }
  worker.join();
  return result.get();
}

/// What `fn` yields, called without the GIL; its error, or the exception of a signal, is raised.
template <class Fn>
auto call(Fn&& fn) {
  auto result = [&] {
    const nanobind::gil_scoped_release released;
    return std::forward<Fn>(fn)();
  }();
  if (PyErr_Occurred() != nullptr) throw nanobind::python_error();
  if (!result) throw Failure{std::move(result).error()};
  if constexpr (!std::is_void_v<typename decltype(result)::value_type>) return std::move(*result);
}

/// A C++ object with threads and child processes, as a Python object owns it. A forked child has neither: there every
/// call is refused, and the end of the object does nothing. Another thread's call keeps it until it returns.
template <class T>
class Owned {
 public:
  explicit Owned(T value) : value_(std::make_shared<T>(std::move(value))) {}
  Owned(Owned&&) noexcept = default;
  Owned& operator=(Owned&&) = delete;
  ~Owned() { close(); }

  std::shared_ptr<T> get() const {
    if (::getpid() != process_)
      throw Failure{{Fault::usage, "this process was forked behind the load, and has none of its threads and workers",
                     "Load in the process that uses it, or start processes by 'spawn'"}};
    if (!value_) throw Failure{{Fault::cancelled, "the model, or this transcription, was closed"}};
    return value_;
  }
  void close() {
    auto value = std::exchange(value_, nullptr);
    if (!value) return;
    if (::getpid() != process_) {
      new std::shared_ptr<T>(std::move(value));  // its threads are not here: it cannot end
      return;
    }
    const nanobind::gil_scoped_release released;
    value.reset();
  }

 private:
  std::shared_ptr<T> value_;
  pid_t process_ = ::getpid();
};

}  // namespace tutti::python
