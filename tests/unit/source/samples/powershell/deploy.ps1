#requires -Version 7.0
using namespace System.IO

<#
.SYNOPSIS
    Deploys a package.
#>
[CmdletBinding()]
param([string] $Target = 'staging')

$script:Attempts = 0
$DefaultRegion = 'eu-west-1'
[string] $Typed = 'x'

[Flags()]
enum DeployOptions {
    None = 0
    Force = 1
}

enum Color { Red; Green }

class Artifact {
    [string] $Name
    [ValidateNotNull()]
    [int] $Size = 0
    static [int] $Count
    hidden [string] $checksum

    Artifact([string] $name) {
        $this.Name = $name
    }

    Artifact([string] $name, [int] $size) {
        $this.Name = $name
        $this.Size = $size
    }

    [string] ToString() { return $this.Name }

    static [Artifact] Load([string] $path) {
        $text = [File]::ReadAllText($path)
        return [Artifact]::new($text)
    }
}

class Package : Artifact {
    [void] Publish() { Write-Verbose 'published' }
}

<#
.SYNOPSIS
    Sends an artifact to a target.
.EXAMPLE
    Send-Artifact -Artifact $a
#>
function Send-Artifact {
    [CmdletBinding(SupportsShouldProcess)]
    [OutputType([void])]
    param(
        [Parameter(Mandatory, ValueFromPipeline)]
        [Artifact] $Artifact,
        [scriptblock] $OnDone = {}
    )
    begin {
        $sent = 0
    }
    process {
        function Format-Line([string] $line) { "> $line" }
        Write-Output (Format-Line $Artifact.Name)
    }
    end { $sent }
}

# Adds one.
function Add-One([int] $n) { $n + 1 }

filter Select-Even { if ($_ % 2 -eq 0) { $_ } }

function Get-Help2 {
    <#
    .SYNOPSIS
        Help inside.
    #>
    'help'
}

$handler = {
    param($event)
    Write-Host $event
}

if ($Target) {
    function Invoke-Hook { 'hook' }
    Get-ChildItem | ForEach-Object { Send-Artifact $_ }
}
