# cmake -DFROM=… -DTO=… "-DOLD=…" "-DNEW=…" -P spoil.cmake
# Writes FROM to TO with the one place that reads OLD changed to NEW; fails when there is not exactly one.
file(READ ${FROM} source)
string(REPLACE "${OLD}" "" without "${source}")
string(LENGTH "${source}" length)
string(LENGTH "${without}" length_without)
string(LENGTH "${OLD}" length_old)
math(EXPR expected "${length_without} + ${length_old}")
if(NOT length EQUAL expected)
  message(FATAL_ERROR "${FROM} does not hold exactly once: ${OLD}")
endif()
string(REPLACE "${OLD}" "${NEW}" source "${source}")
file(WRITE ${TO} "${source}")
