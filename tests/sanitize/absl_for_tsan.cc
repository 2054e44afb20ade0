// For builds with the thread sanitizer only. Debian's Abseil is not built with it, so that the sanitizer cannot see
// what absl::Mutex orders and would report every access under one as a race. These definitions stand before the
// library's (in the program, so that gRPC's own locks come here too), tell the sanitizer what is acquired and released,
// and call the real ones.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}

namespace {

// As absl::Duration and absl::Time are passed.
struct Span {
  int64_t seconds;
  uint32_t ticks;
};

template <typename Function>
Function* Real(const char* name) {
  void* real = dlsym(RTLD_NEXT, name);
  if (real == nullptr) {
    std::fprintf(stderr, "no %s in the libraries: another version of Abseil?\n", name);
    std::abort();
  }
  return reinterpret_cast<Function*>(real);
}

// Whoever unlocks evaluates the conditions of those who wait; they read under a lock that the sanitizer takes for
// released already.
class IgnoreReads {
 public:
  IgnoreReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~IgnoreReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
};

}  // namespace

// name, arguments with and without types; the first argument is the lock.
#define ACQUIRES(name)                                   \
  extern "C" void name(void* lock) {                     \
    static auto* const real = Real<void(void*)>(#name);  \
    real(lock);                                          \
    __tsan_acquire(lock);                                \
  }
#define TRIES(name)                                      \
  extern "C" bool name(void* lock) {                     \
    static auto* const real = Real<bool(void*)>(#name);  \
    const bool locked = real(lock);                      \
    if (locked) __tsan_acquire(lock);                    \
    return locked;                                       \
  }
#define RELEASES(name)                                   \
  extern "C" void name(void* lock) {                     \
    static auto* const real = Real<void(void*)>(#name);  \
    __tsan_release(lock);                                \
    const IgnoreReads ignore;                            \
    real(lock);                                          \
  }
#define AWAITS(name)                                                     \
  extern "C" void name(void* lock, const void* condition) {              \
    static auto* const real = Real<void(void*, const void*)>(#name);     \
    __tsan_release(lock);                                                \
    {                                                                    \
      const IgnoreReads ignore;                                          \
      real(lock, condition);                                             \
    }                                                                    \
    __tsan_acquire(lock);                                                \
  }
#define AWAITS_UNTIL(name)                                                     \
  extern "C" bool name(void* lock, const void* condition, Span span) {         \
    static auto* const real = Real<bool(void*, const void*, Span)>(#name);     \
    __tsan_release(lock);                                                      \
    bool holds;                                                                \
    {                                                                          \
      const IgnoreReads ignore;                                                \
      holds = real(lock, condition, span);                                     \
    }                                                                          \
    __tsan_acquire(lock);                                                      \
    return holds;                                                              \
  }
#define WAITS(name)                                                            \
  extern "C" void name(void* variable, void* lock) {                           \
    static auto* const real = Real<void(void*, void*)>(#name);                 \
    __tsan_release(lock);                                                      \
    real(variable, lock);                                                      \
    __tsan_acquire(lock);                                                      \
  }
#define WAITS_UNTIL(name)                                                      \
  extern "C" bool name(void* variable, void* lock, Span span) {                \
    static auto* const real = Real<bool(void*, void*, Span)>(#name);           \
    __tsan_release(lock);                                                      \
    const bool in_time = real(variable, lock, span);                           \
    __tsan_acquire(lock);                                                      \
    return in_time;                                                            \
  }

// absl::Mutex
ACQUIRES(_ZN4absl7debian35Mutex4LockEv)
ACQUIRES(_ZN4absl7debian35Mutex10ReaderLockEv)
TRIES(_ZN4absl7debian35Mutex7TryLockEv)
TRIES(_ZN4absl7debian35Mutex13ReaderTryLockEv)
RELEASES(_ZN4absl7debian35Mutex6UnlockEv)
RELEASES(_ZN4absl7debian35Mutex12ReaderUnlockEv)
AWAITS(_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE)
AWAITS(_ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE)
AWAITS(_ZN4absl7debian35Mutex14ReaderLockWhenERKNS0_9ConditionE)
AWAITS_UNTIL(_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE)
AWAITS_UNTIL(_ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE)
AWAITS_UNTIL(_ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE)
AWAITS_UNTIL(_ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE)
// absl::CondVar
WAITS(_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE)
WAITS_UNTIL(_ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE)
WAITS_UNTIL(_ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE)
// absl::Notification
RELEASES(_ZN4absl7debian312Notification6NotifyEv)
ACQUIRES(_ZNK4absl7debian312Notification19WaitForNotificationEv)
