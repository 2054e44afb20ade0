// The version of the build, as `--version` and the metrics tell it.
#ifndef REVERSI_SERVICE_VERSION_H_
#define REVERSI_SERVICE_VERSION_H_

#ifndef REVERSI_VERSION
#define REVERSI_VERSION "development"
#endif

namespace reversi {
inline constexpr char kVersion[] = REVERSI_VERSION;
}  // namespace reversi

#endif  // REVERSI_SERVICE_VERSION_H_
