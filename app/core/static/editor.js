// Licences of the packages in this bundle: editor/licences.txt
import{T as a}from"./editor/chunk-JYEO2AQI.js";export{a as createEditor};
