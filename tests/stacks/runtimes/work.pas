program work;
{$mode objfpc}
uses SysUtils, Classes;

type
  TNode = class
    left, right: TNode;
    value: longint;
    constructor Create(v: longint);
    destructor Destroy; override;
    procedure Add(v: longint);
    function Sum: int64;
  end;

constructor TNode.Create(v: longint);
begin
  value := v;
end;

destructor TNode.Destroy;
begin
  left.Free;
  right.Free;
  inherited;
end;

procedure TNode.Add(v: longint);
begin
  if v < value then
    if left = nil then left := TNode.Create(v) else left.Add(v)
  else
    if right = nil then right := TNode.Create(v) else right.Add(v);
end;

function TNode.Sum: int64;
begin
  result := value;
  if left <> nil then result := result + left.Sum;
  if right <> nil then result := result + right.Sum;
end;

var
  root: TNode;
  lines: TStringList;
  i, j: longint;
  total: int64 = 0;
begin
  for i := 1 to 600 do begin
    root := TNode.Create(500);
    for j := 1 to 2000 do root.Add(random(100000));
    total := total + root.Sum;
    root.Free;
    lines := TStringList.Create;
    for j := 1 to 500 do lines.Add(Format('%d of %d', [random(1000), i]));
    lines.Sort;
    lines.Free;
    try
      if i mod 3 = 0 then raise Exception.Create('three');
    except
      on e: Exception do total := total + length(e.Message);
    end;
  end;
  writeln(total);
end.
