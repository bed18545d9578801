#pragma once

#include <mutex>

// Attributes by which clang proves that what a mutex guards is touched by its holder alone (-Wthread-safety, in `make
// tidy`). Other compilers see nothing of them. https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define TUTTI_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define TUTTI_THREAD_SAFETY(attribute)
#endif

/// The member may be touched only while that mutex is held.
#define TUTTI_GUARDED_BY(mutex) TUTTI_THREAD_SAFETY(guarded_by(mutex))
/// The function is called only while that mutex is held. Write it before the body, in a lambda behind `()`.
#define TUTTI_REQUIRES(...) TUTTI_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// The function returns, or the object begins, with that mutex held; TUTTI_RELEASES: it returns without.
#define TUTTI_ACQUIRES(...) TUTTI_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define TUTTI_TRY_ACQUIRES(...) TUTTI_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define TUTTI_RELEASES(...) TUTTI_THREAD_SAFETY(release_capability(__VA_ARGS__))
/// The function is beyond the analysis, for the reason beside it.
#define TUTTI_UNCHECKED_LOCKING TUTTI_THREAD_SAFETY(no_thread_safety_analysis)

namespace tutti {

/// A std::mutex that clang's analysis knows. `Guarded` is better where the data can be one value.
class TUTTI_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  void lock() TUTTI_ACQUIRES() { mutex_.lock(); }
  bool try_lock() TUTTI_TRY_ACQUIRES(true) { return mutex_.try_lock(); }
  void unlock() TUTTI_RELEASES() { mutex_.unlock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// Holds a Mutex as long as it is there, but between `unlock` and `lock`.
class TUTTI_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TUTTI_ACQUIRES(mutex) : held_(mutex.mutex_) {}
  /// By a thread that has locked it already.
  MutexLock(Mutex& mutex, std::adopt_lock_t adopt) TUTTI_REQUIRES(mutex) : held_(mutex.mutex_, adopt) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() TUTTI_RELEASES() {}

  void lock() TUTTI_ACQUIRES() { held_.lock(); }
  void unlock() TUTTI_RELEASES() { held_.unlock(); }
  /// What a std::condition_variable waits with.
  std::unique_lock<std::mutex>& held() { return held_; }

 private:
  std::unique_lock<std::mutex> held_;
};

}  // namespace tutti
