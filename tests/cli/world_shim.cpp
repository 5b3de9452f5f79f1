// A library that is loaded before all others (LD_PRELOAD) and stands between the program and the world: a
// clock that is set forth and back all the time, and a disk whose fsync takes long. What it does, the
// environment says:
//   SHIM_CLOCK_JUMPS=1     each look at the wall clock finds it somewhere else, a year forth or ten back
//   SHIM_FSYNC_WAITS_S=N   fsync() takes so long
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// What the wall clock is off at this look.
long jump_s() {
  static const bool jumps = std::getenv("SHIM_CLOCK_JUMPS") != nullptr;
  static unsigned looks = 0;
  constexpr long year_s = 365L * 86400;
  constexpr long jumps_s[] = {0, year_s, -10 * year_s, 3600, -1};
  return jumps ? jumps_s[looks++ % 5] : 0;
}

} // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const next = real<int(clockid_t, timespec*)>("clock_gettime");
  const int code = next(clock, time);
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    time->tv_sec += jump_s();
  return code;
}

int gettimeofday(timeval* __restrict now, void* __restrict zone) noexcept {
  static auto* const next = real<int(timeval*, void*)>("gettimeofday");
  const int code = next(now, zone);
  if (code == 0)
    now->tv_sec += jump_s();
  return code;
}

std::time_t time(std::time_t* now) noexcept {
  timespec moment{};
  clock_gettime(CLOCK_REALTIME, &moment);
  if (now != nullptr)
    *now = moment.tv_sec;
  return moment.tv_sec;
}

int fsync(int fd) {
  static auto* const next = real<int(int)>("fsync");
  if (const char* waits_s = std::getenv("SHIM_FSYNC_WAITS_S"))
    ::usleep(static_cast<useconds_t>(std::atof(waits_s) * 1e6));
  return next(fd);
}

} // extern "C"
