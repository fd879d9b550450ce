!> Corrects a trace, says how far it was from the truth at most, and takes it back.
!>
!>     gfortran retime.f90 correct.f90 $(pkg-config --libs retime) -o correct
!>     ./correct TRACE OUTPUT RESTORED
program correct
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    use retime
    implicit none

    character(len=4096) :: trace, output, restored
    character(len=*), parameter :: options(2) = [character(len=16) :: '--method', 'clc']
    type(c_ptr) :: report
    type(retime_counts) :: counts

    if (command_argument_count() /= 3) then
        write (error_unit, '(a)') 'usage: correct TRACE OUTPUT RESTORED'
        stop 2
    end if
    call get_command_argument(1, trace)
    call get_command_argument(2, output)
    call get_command_argument(3, restored)

    call must(retime_check(trace, report))
    call must(retime_report_counts(report, counts))
    print '(i0,a,i0,a)', counts%recorded%violated, ' of ', counts%recorded%dependencies, &
        ' dependencies are violated'
    call retime_report_free(report)

    call must(retime_correct(trace, output, report, options))
    call must(retime_report_counts(report, counts))
    print '(a)', retime_report_outcome(report)
    if (counts%corrected%violated /= 0) stop 1
    call retime_report_free(report)

    call must(retime_undo(output, restored, report))
    print '(a)', retime_report_outcome(report)
    call retime_report_free(report)

contains

    subroutine must(status)
        integer(c_int), intent(in) :: status
        if (status == RETIME_STATUS_OK) return
        write (error_unit, '(a)') retime_error()
        stop 2
    end subroutine must

end program correct
