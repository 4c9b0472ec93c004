// Room for the products of OpenBLAS where address space is limited. Internal.
#pragma once

namespace fwsr {

/// OpenBLAS takes 128 MiB of address space for every thread that multiplies, and where the system refuses
/// them it asks again, for ever. So where there is a limit they are taken beforehand, together with the
/// stacks of the threads; throws MemoryError when they do not fit.
void make_room_for_products(int threads);

}  // namespace fwsr
